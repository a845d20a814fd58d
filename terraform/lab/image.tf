# Written by `talosmith synth lab --hcl` from environments/lab.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# Another processor needs another image and another disk.
resource "terraform_data" "control_plane_architecture" {
  for_each = local.control_plane

  triggers_replace = "amd64"
}

# What each disk began with.
resource "terraform_data" "control_plane_first_image" {
  for_each = local.control_plane

  input = "v1.13.9-abbaeb11.qcow2"

  # Kept for as long as the disk is.
  lifecycle {
    ignore_changes       = [input]
    replace_triggered_by = [terraform_data.control_plane_architecture[each.key]]
  }
}

resource "terraform_data" "worker_architecture" {
  for_each = local.worker

  triggers_replace = "amd64"
}

resource "terraform_data" "worker_first_image" {
  for_each = local.worker

  input = "v1.13.9-abbaeb11.qcow2"

  # Kept for as long as the disk is.
  lifecycle {
    ignore_changes       = [input]
    replace_triggered_by = [terraform_data.worker_architecture[each.key]]
  }
}

# Images that machines began with. New ones begin with the current; running ones are upgraded.
resource "libvirt_volume" "image" {
  for_each = toset(concat(
    values(terraform_data.control_plane_first_image)[*].input,
    values(terraform_data.worker_first_image)[*].input,
  ))

  name   = "talos-lab-${each.key}"
  pool   = "default"
  target = { format = { type = "qcow2" } }
  create = {
    content = {
      url = "https://factory.talos.dev/image/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba/v1.13.9/nocloud-amd64.qcow2"
    }
  }

  # Of an older image, only its name and its bytes count.
  lifecycle {
    ignore_changes = [create, target]
  }
}
