# Written by `talosmith synth lab --hcl` from environments/lab.yaml; change that file, not this one.

# What each disk began with: kept for as long as the disk is.
resource "terraform_data" "cp_1_image_20GiB" {
  input = "v1.13.9-abbaeb11.qcow2"

  lifecycle {
    ignore_changes = [input]
  }
}

resource "terraform_data" "cp_2_image_20GiB" {
  input = "v1.13.9-abbaeb11.qcow2"

  lifecycle {
    ignore_changes = [input]
  }
}

resource "terraform_data" "cp_3_image_20GiB" {
  input = "v1.13.9-abbaeb11.qcow2"

  lifecycle {
    ignore_changes = [input]
  }
}

resource "terraform_data" "w_1_image_40GiB" {
  input = "v1.13.9-abbaeb11.qcow2"

  lifecycle {
    ignore_changes = [input]
  }
}

resource "terraform_data" "w_2_image_40GiB" {
  input = "v1.13.9-abbaeb11.qcow2"

  lifecycle {
    ignore_changes = [input]
  }
}

# Images that machines began with. New ones begin with the current; running ones are upgraded.
resource "libvirt_volume" "image" {
  for_each = toset([
    terraform_data.cp_1_image_20GiB.input,
    terraform_data.cp_2_image_20GiB.input,
    terraform_data.cp_3_image_20GiB.input,
    terraform_data.w_1_image_40GiB.input,
    terraform_data.w_2_image_40GiB.input,
  ])
  name   = "talos-lab-${each.key}"
  pool   = "default"
  target = { format = { type = "qcow2" } }
  create = {
    content = {
      url = "https://factory.talos.dev/image/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba/v1.13.9/nocloud-amd64.qcow2"
    }
  }

  lifecycle {
    ignore_changes = [create, target]
  }
}
