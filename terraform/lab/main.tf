# Written by `talosmith synth lab --hcl` from environments/lab.yaml; change that file, not this one.

# Virtual machines. They are replaced rather than updated; disks stay.
resource "libvirt_domain" "cp_1" {
  name        = "talos-cp-1"
  autostart   = true
  cpu         = { mode = "host-passthrough" }
  features    = { acpi = true }
  memory      = 4096
  memory_unit = "MiB"
  running     = true
  type        = "kvm"
  vcpu        = 2
  devices = {
    disks = [
      {
        device = "disk"
        driver = { name = "qemu", type = "qcow2" }
        source = {
          volume = { pool = libvirt_volume.cp_1_disk.pool, volume = libvirt_volume.cp_1_disk.name }
        }
        target = { bus = "virtio", dev = "vda" }
      },
      {
        device    = "cdrom"
        driver    = { name = "qemu", type = "raw" }
        read_only = true
        source    = { volume = { pool = libvirt_volume.cp_1_iso.pool, volume = libvirt_volume.cp_1_iso.name } }
        target    = { bus = "sata", dev = "sda" }
      },
    ]
    interfaces = [
      {
        mac    = { address = "52:54:00:c1:00:01" }
        model  = { type = "virtio" }
        source = { bridge = { bridge = "br0" } }
      },
    ]
  }
  os = {
    boot_devices = [
      { dev = "hd" },
    ]
    type         = "hvm"
    type_arch    = "x86_64"
    type_machine = "q35"
  }

  lifecycle {
    replace_triggered_by = [terraform_data.cp_1_hardware]
  }
}

resource "libvirt_domain" "cp_2" {
  name        = "talos-cp-2"
  autostart   = true
  cpu         = { mode = "host-passthrough" }
  features    = { acpi = true }
  memory      = 4096
  memory_unit = "MiB"
  running     = true
  type        = "kvm"
  vcpu        = 2
  devices = {
    disks = [
      {
        device = "disk"
        driver = { name = "qemu", type = "qcow2" }
        source = {
          volume = { pool = libvirt_volume.cp_2_disk.pool, volume = libvirt_volume.cp_2_disk.name }
        }
        target = { bus = "virtio", dev = "vda" }
      },
      {
        device    = "cdrom"
        driver    = { name = "qemu", type = "raw" }
        read_only = true
        source    = { volume = { pool = libvirt_volume.cp_2_iso.pool, volume = libvirt_volume.cp_2_iso.name } }
        target    = { bus = "sata", dev = "sda" }
      },
    ]
    interfaces = [
      {
        mac    = { address = "52:54:00:c1:00:02" }
        model  = { type = "virtio" }
        source = { bridge = { bridge = "br0" } }
      },
    ]
  }
  os = {
    boot_devices = [
      { dev = "hd" },
    ]
    type         = "hvm"
    type_arch    = "x86_64"
    type_machine = "q35"
  }

  lifecycle {
    replace_triggered_by = [terraform_data.cp_2_hardware]
  }
}

resource "libvirt_domain" "cp_3" {
  name        = "talos-cp-3"
  autostart   = true
  cpu         = { mode = "host-passthrough" }
  features    = { acpi = true }
  memory      = 4096
  memory_unit = "MiB"
  running     = true
  type        = "kvm"
  vcpu        = 2
  devices = {
    disks = [
      {
        device = "disk"
        driver = { name = "qemu", type = "qcow2" }
        source = {
          volume = { pool = libvirt_volume.cp_3_disk.pool, volume = libvirt_volume.cp_3_disk.name }
        }
        target = { bus = "virtio", dev = "vda" }
      },
      {
        device    = "cdrom"
        driver    = { name = "qemu", type = "raw" }
        read_only = true
        source    = { volume = { pool = libvirt_volume.cp_3_iso.pool, volume = libvirt_volume.cp_3_iso.name } }
        target    = { bus = "sata", dev = "sda" }
      },
    ]
    interfaces = [
      {
        mac    = { address = "52:54:00:c1:00:03" }
        model  = { type = "virtio" }
        source = { bridge = { bridge = "br0" } }
      },
    ]
  }
  os = {
    boot_devices = [
      { dev = "hd" },
    ]
    type         = "hvm"
    type_arch    = "x86_64"
    type_machine = "q35"
  }

  lifecycle {
    replace_triggered_by = [terraform_data.cp_3_hardware]
  }
}

resource "libvirt_domain" "w_1" {
  name        = "talos-w-1"
  autostart   = true
  cpu         = { mode = "host-passthrough" }
  features    = { acpi = true }
  memory      = 8192
  memory_unit = "MiB"
  running     = true
  type        = "kvm"
  vcpu        = 4
  devices = {
    disks = [
      {
        device = "disk"
        driver = { name = "qemu", type = "qcow2" }
        source = { volume = { pool = libvirt_volume.w_1_disk.pool, volume = libvirt_volume.w_1_disk.name } }
        target = { bus = "virtio", dev = "vda" }
      },
      {
        device    = "cdrom"
        driver    = { name = "qemu", type = "raw" }
        read_only = true
        source    = { volume = { pool = libvirt_volume.w_1_iso.pool, volume = libvirt_volume.w_1_iso.name } }
        target    = { bus = "sata", dev = "sda" }
      },
    ]
    interfaces = [
      {
        mac    = { address = "52:54:00:c2:00:01" }
        model  = { type = "virtio" }
        source = { bridge = { bridge = "br0" } }
      },
    ]
  }
  os = {
    boot_devices = [
      { dev = "hd" },
    ]
    type         = "hvm"
    type_arch    = "x86_64"
    type_machine = "q35"
  }

  lifecycle {
    replace_triggered_by = [terraform_data.w_1_hardware]
  }
}

resource "libvirt_domain" "w_2" {
  name        = "talos-w-2"
  autostart   = true
  cpu         = { mode = "host-passthrough" }
  features    = { acpi = true }
  memory      = 8192
  memory_unit = "MiB"
  running     = true
  type        = "kvm"
  vcpu        = 4
  devices = {
    disks = [
      {
        device = "disk"
        driver = { name = "qemu", type = "qcow2" }
        source = { volume = { pool = libvirt_volume.w_2_disk.pool, volume = libvirt_volume.w_2_disk.name } }
        target = { bus = "virtio", dev = "vda" }
      },
      {
        device    = "cdrom"
        driver    = { name = "qemu", type = "raw" }
        read_only = true
        source    = { volume = { pool = libvirt_volume.w_2_iso.pool, volume = libvirt_volume.w_2_iso.name } }
        target    = { bus = "sata", dev = "sda" }
      },
    ]
    interfaces = [
      {
        mac    = { address = "52:54:00:c2:00:02" }
        model  = { type = "virtio" }
        source = { bridge = { bridge = "br0" } }
      },
    ]
  }
  os = {
    boot_devices = [
      { dev = "hd" },
    ]
    type         = "hvm"
    type_arch    = "x86_64"
    type_machine = "q35"
  }

  lifecycle {
    replace_triggered_by = [terraform_data.w_2_hardware]
  }
}

# A change here replaces what is triggered by it.
resource "terraform_data" "cp_1_disk_size" {
  triggers_replace = 21474836480
}

resource "terraform_data" "cp_1_hardware" {
  triggers_replace = {
    autostart   = true
    disk        = 21474836480
    extra_disks = []
    loader      = "bios"
    mac         = "52:54:00:c1:00:01"
    memory      = 4096
    network     = "br0"
    seed        = "135e5116c403"
    type        = "kvm"
    vcpu        = 2
  }
}

resource "terraform_data" "cp_2_disk_size" {
  triggers_replace = 21474836480
}

resource "terraform_data" "cp_2_hardware" {
  triggers_replace = {
    autostart   = true
    disk        = 21474836480
    extra_disks = []
    loader      = "bios"
    mac         = "52:54:00:c1:00:02"
    memory      = 4096
    network     = "br0"
    seed        = "54f4ca5c5465"
    type        = "kvm"
    vcpu        = 2
  }
}

resource "terraform_data" "cp_3_disk_size" {
  triggers_replace = 21474836480
}

resource "terraform_data" "cp_3_hardware" {
  triggers_replace = {
    autostart   = true
    disk        = 21474836480
    extra_disks = []
    loader      = "bios"
    mac         = "52:54:00:c1:00:03"
    memory      = 4096
    network     = "br0"
    seed        = "e3ba2593a94a"
    type        = "kvm"
    vcpu        = 2
  }
}

resource "terraform_data" "w_1_disk_size" {
  triggers_replace = 42949672960
}

resource "terraform_data" "w_1_hardware" {
  triggers_replace = {
    autostart   = true
    disk        = 42949672960
    extra_disks = []
    loader      = "bios"
    mac         = "52:54:00:c2:00:01"
    memory      = 8192
    network     = "br0"
    seed        = "0c0a01019ffb"
    type        = "kvm"
    vcpu        = 4
  }
}

resource "terraform_data" "w_2_disk_size" {
  triggers_replace = 42949672960
}

resource "terraform_data" "w_2_hardware" {
  triggers_replace = {
    autostart   = true
    disk        = 42949672960
    extra_disks = []
    loader      = "bios"
    mac         = "52:54:00:c2:00:02"
    memory      = 8192
    network     = "br0"
    seed        = "ef111fc8f9c3"
    type        = "kvm"
    vcpu        = 4
  }
}
