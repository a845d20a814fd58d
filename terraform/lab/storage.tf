# Written by `talosmith synth lab --hcl` from environments/lab.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# Disks are copy-on-write clones of the image.
resource "libvirt_volume" "control_plane_disk" {
  for_each = local.control_plane

  name     = "talos-${each.key}.qcow2"
  capacity = 21474836480
  pool     = "default"
  target   = { format = { type = "qcow2" } }
  backing_store = {
    format = {
      type = libvirt_volume.image[terraform_data.control_plane_first_image[each.key].input].target.format.type
    }
    path = libvirt_volume.image[terraform_data.control_plane_first_image[each.key].input].path
  }

  # The provider cannot resize a volume; disk_size in main.tf does.
  lifecycle {
    ignore_changes       = [capacity]
    replace_triggered_by = [terraform_data.control_plane_architecture[each.key]]
  }
}

# ISOs bring name and first address. Another content is another volume, for volumes are replaced by name only.
resource "libvirt_volume" "control_plane_iso" {
  for_each = local.control_plane

  name   = "talos-${each.key}-${each.value.seed}.iso"
  create = { content = { url = "../../generated/lab/cloud-init/talos-${each.key}.iso" } }
  pool   = "default"

  # The file is read when the volume is made, and only then.
  lifecycle {
    ignore_changes = [create, target]
  }

  depends_on = [talosmith_cloud_init.control_plane_seed]
}

resource "libvirt_volume" "worker_disk" {
  for_each = local.worker

  name     = "talos-${each.key}.qcow2"
  capacity = 42949672960
  pool     = "default"
  target   = { format = { type = "qcow2" } }
  backing_store = {
    format = {
      type = libvirt_volume.image[terraform_data.worker_first_image[each.key].input].target.format.type
    }
    path = libvirt_volume.image[terraform_data.worker_first_image[each.key].input].path
  }

  # The provider cannot resize a volume; disk_size in main.tf does.
  lifecycle {
    ignore_changes       = [capacity]
    replace_triggered_by = [terraform_data.worker_architecture[each.key]]
  }
}

resource "libvirt_volume" "worker_iso" {
  for_each = local.worker

  name   = "talos-${each.key}-${each.value.seed}.iso"
  create = { content = { url = "../../generated/lab/cloud-init/talos-${each.key}.iso" } }
  pool   = "default"

  # The file is read when the volume is made, and only then.
  lifecycle {
    ignore_changes = [create, target]
  }

  depends_on = [talosmith_cloud_init.worker_seed]
}

# Seeds: name and address of each machine; no secret here.
resource "talosmith_cloud_init" "control_plane_seed" {
  for_each = local.control_plane

  path           = "generated/lab/cloud-init/talos-${each.key}.iso"
  meta_data      = <<-EOT
    instance-id: "talos-${each.key}"
    local-hostname: "talos-${each.key}"
  EOT
  network_config = <<-EOT
    version: 2
    ethernets:
      eth0:
        match:
          macaddress: "${each.value.mac}"
        dhcp4: false
        addresses:
          - "${each.value.address}/24"
        routes:
          - to: default
            via: "10.0.0.1"
        nameservers:
          addresses: ["10.0.0.1"]
  EOT
}

resource "talosmith_cloud_init" "worker_seed" {
  for_each = local.worker

  path           = "generated/lab/cloud-init/talos-${each.key}.iso"
  meta_data      = <<-EOT
    instance-id: "talos-${each.key}"
    local-hostname: "talos-${each.key}"
  EOT
  network_config = <<-EOT
    version: 2
    ethernets:
      eth0:
        match:
          macaddress: "${each.value.mac}"
        dhcp4: false
        addresses:
          - "${each.value.address}/24"
        routes:
          - to: default
            via: "10.0.0.1"
        nameservers:
          addresses: ["10.0.0.1"]
  EOT
}
