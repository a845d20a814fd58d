# Written by `talosmith synth docker --hcl` from environments/docker.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# The machines of each pool, by their key in addresses: what one of them has of its own.
locals {
  control_plane = {
    "cp-1" = {
      address = "10.5.0.2"
      ports = [
        { external = 7443, internal = 6443 },
        { external = 51000, internal = 50000 },
      ]
    }
  }

  worker = {
    "w-1" = { address = "10.5.0.20" }
  }
}
