# Written by `talosmith synth docker --hcl` from environments/docker.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

resource "docker_network" "network" {
  name   = "talos-docker"
  driver = "bridge"

  ipam_config {
    gateway = "10.5.0.1"
    subnet  = "10.5.0.0/24"
  }
}
