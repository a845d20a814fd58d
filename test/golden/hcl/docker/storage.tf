# Written by `talosmith synth docker --hcl` from environments/docker.yaml; change that file, not this one.

# STATE and EPHEMERAL: with them, a new container is the same machine.
resource "docker_volume" "cp_1_ephemeral" {
  name = "docker-cp-1-ephemeral"
}

resource "docker_volume" "cp_1_state" {
  name = "docker-cp-1-state"
}

resource "docker_volume" "w_1_ephemeral" {
  name = "docker-w-1-ephemeral"
}

resource "docker_volume" "w_1_state" {
  name = "docker-w-1-state"
}
