# Written by `talosmith synth lab --hcl` from environments/lab.yaml; change that file, not this one.

# Disks are copy-on-write clones of the image; ISOs bring the first address.
resource "libvirt_volume" "cp_1_disk" {
  name     = "talos-cp-1.qcow2"
  capacity = 21474836480
  pool     = "default"
  target   = { format = { type = "qcow2" } }
  backing_store = {
    format = { type = libvirt_volume.image[terraform_data.cp_1_image_20GiB.input].target.format.type }
    path   = libvirt_volume.image[terraform_data.cp_1_image_20GiB.input].path
  }

  lifecycle {
    replace_triggered_by = [terraform_data.cp_1_disk_size]
  }
}

resource "libvirt_volume" "cp_1_iso" {
  name   = "talos-cp-1-135e5116c403.iso"
  create = { content = { url = "../../generated/lab/cloud-init/talos-cp-1.iso" } }
  pool   = "default"
  target = { format = { type = "iso" } }

  lifecycle {
    ignore_changes = [create]
  }

  depends_on = [talosmith_cloud_init.cp_1_seed]
}

resource "libvirt_volume" "cp_2_disk" {
  name     = "talos-cp-2.qcow2"
  capacity = 21474836480
  pool     = "default"
  target   = { format = { type = "qcow2" } }
  backing_store = {
    format = { type = libvirt_volume.image[terraform_data.cp_2_image_20GiB.input].target.format.type }
    path   = libvirt_volume.image[terraform_data.cp_2_image_20GiB.input].path
  }

  lifecycle {
    replace_triggered_by = [terraform_data.cp_2_disk_size]
  }
}

resource "libvirt_volume" "cp_2_iso" {
  name   = "talos-cp-2-54f4ca5c5465.iso"
  create = { content = { url = "../../generated/lab/cloud-init/talos-cp-2.iso" } }
  pool   = "default"
  target = { format = { type = "iso" } }

  lifecycle {
    ignore_changes = [create]
  }

  depends_on = [talosmith_cloud_init.cp_2_seed]
}

resource "libvirt_volume" "cp_3_disk" {
  name     = "talos-cp-3.qcow2"
  capacity = 21474836480
  pool     = "default"
  target   = { format = { type = "qcow2" } }
  backing_store = {
    format = { type = libvirt_volume.image[terraform_data.cp_3_image_20GiB.input].target.format.type }
    path   = libvirt_volume.image[terraform_data.cp_3_image_20GiB.input].path
  }

  lifecycle {
    replace_triggered_by = [terraform_data.cp_3_disk_size]
  }
}

resource "libvirt_volume" "cp_3_iso" {
  name   = "talos-cp-3-e3ba2593a94a.iso"
  create = { content = { url = "../../generated/lab/cloud-init/talos-cp-3.iso" } }
  pool   = "default"
  target = { format = { type = "iso" } }

  lifecycle {
    ignore_changes = [create]
  }

  depends_on = [talosmith_cloud_init.cp_3_seed]
}

resource "libvirt_volume" "w_1_disk" {
  name     = "talos-w-1.qcow2"
  capacity = 42949672960
  pool     = "default"
  target   = { format = { type = "qcow2" } }
  backing_store = {
    format = { type = libvirt_volume.image[terraform_data.w_1_image_40GiB.input].target.format.type }
    path   = libvirt_volume.image[terraform_data.w_1_image_40GiB.input].path
  }

  lifecycle {
    replace_triggered_by = [terraform_data.w_1_disk_size]
  }
}

resource "libvirt_volume" "w_1_iso" {
  name   = "talos-w-1-0c0a01019ffb.iso"
  create = { content = { url = "../../generated/lab/cloud-init/talos-w-1.iso" } }
  pool   = "default"
  target = { format = { type = "iso" } }

  lifecycle {
    ignore_changes = [create]
  }

  depends_on = [talosmith_cloud_init.w_1_seed]
}

resource "libvirt_volume" "w_2_disk" {
  name     = "talos-w-2.qcow2"
  capacity = 42949672960
  pool     = "default"
  target   = { format = { type = "qcow2" } }
  backing_store = {
    format = { type = libvirt_volume.image[terraform_data.w_2_image_40GiB.input].target.format.type }
    path   = libvirt_volume.image[terraform_data.w_2_image_40GiB.input].path
  }

  lifecycle {
    replace_triggered_by = [terraform_data.w_2_disk_size]
  }
}

resource "libvirt_volume" "w_2_iso" {
  name   = "talos-w-2-ef111fc8f9c3.iso"
  create = { content = { url = "../../generated/lab/cloud-init/talos-w-2.iso" } }
  pool   = "default"
  target = { format = { type = "iso" } }

  lifecycle {
    ignore_changes = [create]
  }

  depends_on = [talosmith_cloud_init.w_2_seed]
}

# Seeds: name and address of each machine; no secret here.
resource "talosmith_cloud_init" "cp_1_seed" {
  path           = "generated/lab/cloud-init/talos-cp-1.iso"
  meta_data      = <<-EOT
    instance-id: "talos-cp-1"
    local-hostname: "talos-cp-1"
  EOT
  network_config = <<-EOT
    version: 2
    ethernets:
      eth0:
        match:
          macaddress: "52:54:00:c1:00:01"
        dhcp4: false
        addresses:
          - "10.0.0.70/24"
        routes:
          - to: default
            via: "10.0.0.1"
        nameservers:
          addresses: ["10.0.0.1"]
  EOT
}

resource "talosmith_cloud_init" "cp_2_seed" {
  path           = "generated/lab/cloud-init/talos-cp-2.iso"
  meta_data      = <<-EOT
    instance-id: "talos-cp-2"
    local-hostname: "talos-cp-2"
  EOT
  network_config = <<-EOT
    version: 2
    ethernets:
      eth0:
        match:
          macaddress: "52:54:00:c1:00:02"
        dhcp4: false
        addresses:
          - "10.0.0.71/24"
        routes:
          - to: default
            via: "10.0.0.1"
        nameservers:
          addresses: ["10.0.0.1"]
  EOT
}

resource "talosmith_cloud_init" "cp_3_seed" {
  path           = "generated/lab/cloud-init/talos-cp-3.iso"
  meta_data      = <<-EOT
    instance-id: "talos-cp-3"
    local-hostname: "talos-cp-3"
  EOT
  network_config = <<-EOT
    version: 2
    ethernets:
      eth0:
        match:
          macaddress: "52:54:00:c1:00:03"
        dhcp4: false
        addresses:
          - "10.0.0.72/24"
        routes:
          - to: default
            via: "10.0.0.1"
        nameservers:
          addresses: ["10.0.0.1"]
  EOT
}

resource "talosmith_cloud_init" "w_1_seed" {
  path           = "generated/lab/cloud-init/talos-w-1.iso"
  meta_data      = <<-EOT
    instance-id: "talos-w-1"
    local-hostname: "talos-w-1"
  EOT
  network_config = <<-EOT
    version: 2
    ethernets:
      eth0:
        match:
          macaddress: "52:54:00:c2:00:01"
        dhcp4: false
        addresses:
          - "10.0.0.80/24"
        routes:
          - to: default
            via: "10.0.0.1"
        nameservers:
          addresses: ["10.0.0.1"]
  EOT
}

resource "talosmith_cloud_init" "w_2_seed" {
  path           = "generated/lab/cloud-init/talos-w-2.iso"
  meta_data      = <<-EOT
    instance-id: "talos-w-2"
    local-hostname: "talos-w-2"
  EOT
  network_config = <<-EOT
    version: 2
    ethernets:
      eth0:
        match:
          macaddress: "52:54:00:c2:00:02"
        dhcp4: false
        addresses:
          - "10.0.0.81/24"
        routes:
          - to: default
            via: "10.0.0.1"
        nameservers:
          addresses: ["10.0.0.1"]
  EOT
}
