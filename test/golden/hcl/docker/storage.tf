# Written by `talosmith synth docker --hcl` from environments/docker.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# STATE and EPHEMERAL: with them, a new container is the same machine.
resource "docker_volume" "control_plane_ephemeral" {
  for_each = local.control_plane

  name = "docker-${each.key}-ephemeral"
}

resource "docker_volume" "control_plane_state" {
  for_each = local.control_plane

  name = "docker-${each.key}-state"
}

resource "docker_volume" "worker_ephemeral" {
  for_each = local.worker

  name = "docker-${each.key}-ephemeral"
}

resource "docker_volume" "worker_state" {
  for_each = local.worker

  name = "docker-${each.key}-state"
}
