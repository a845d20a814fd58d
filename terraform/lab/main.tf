# Written by `talosmith synth lab --hcl` from environments/lab.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# Virtual machines. They are replaced rather than updated; disks stay.
resource "libvirt_domain" "control_plane" {
  for_each = local.control_plane

  name        = "talos-${each.key}"
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
          volume = {
            pool   = libvirt_volume.control_plane_disk[each.key].pool
            volume = libvirt_volume.control_plane_disk[each.key].name
          }
        }
        target = { bus = "virtio", dev = "vda" }
      },
      {
        device    = "cdrom"
        driver    = { name = "qemu", type = "raw" }
        read_only = true
        source = {
          volume = {
            pool   = libvirt_volume.control_plane_iso[each.key].pool
            volume = libvirt_volume.control_plane_iso[each.key].name
          }
        }
        target = { bus = "sata", dev = "sda" }
      },
    ]
    interfaces = [
      {
        mac    = { address = each.value.mac }
        model  = { type = "virtio" }
        source = { bridge = { bridge = "br0" } }
      },
    ]
    serials = [
      { target = { port = 0 } },
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

  # The provider changes a running domain by stopping it, and then fails: it is replaced.
  lifecycle {
    ignore_changes = [devices.serials]
    replace_triggered_by = [
      terraform_data.control_plane_hardware[each.key],
      terraform_data.control_plane_disk_size[each.key],
    ]
  }
}

resource "libvirt_domain" "worker" {
  for_each = local.worker

  name        = "talos-${each.key}"
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
        source = {
          volume = {
            pool   = libvirt_volume.worker_disk[each.key].pool
            volume = libvirt_volume.worker_disk[each.key].name
          }
        }
        target = { bus = "virtio", dev = "vda" }
      },
      {
        device    = "cdrom"
        driver    = { name = "qemu", type = "raw" }
        read_only = true
        source = {
          volume = {
            pool   = libvirt_volume.worker_iso[each.key].pool
            volume = libvirt_volume.worker_iso[each.key].name
          }
        }
        target = { bus = "sata", dev = "sda" }
      },
    ]
    interfaces = [
      {
        mac    = { address = each.value.mac }
        model  = { type = "virtio" }
        source = { bridge = { bridge = "br0" } }
      },
    ]
    serials = [
      { target = { port = 0 } },
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

  # The provider changes a running domain by stopping it, and then fails: it is replaced.
  lifecycle {
    ignore_changes = [devices.serials]
    replace_triggered_by = [
      terraform_data.worker_hardware[each.key],
      terraform_data.worker_disk_size[each.key],
    ]
  }
}

# Enlarges existing disks while their virtual machines are off. Needs virsh where Terraform runs.
resource "terraform_data" "control_plane_disk_size" {
  for_each = local.control_plane

  triggers_replace = 21474836480

  provisioner "local-exec" {
    command = libvirt_volume.control_plane_disk[each.key].capacity < 21474836480 ? "virsh -c \"$URI\" vol-resize --pool \"$POOL\" \"$VOLUME\" \"$CAPACITY\"" : "true"
    environment = {
      CAPACITY = "21474836480"
      POOL     = libvirt_volume.control_plane_disk[each.key].pool
      URI      = "qemu:///system"
      VOLUME   = libvirt_volume.control_plane_disk[each.key].name
    }
  }
}

# What changes with the hardware of a machine. For more machines at once than rollout allows, the cluster refuses it.
resource "terraform_data" "control_plane_hardware" {
  for_each = local.control_plane

  triggers_replace = {
    autostart   = true
    disk        = 21474836480
    extra_disks = []
    loader      = "bios"
    mac         = each.value.mac
    memory      = 4096
    network     = "br0"
    seed        = each.value.seed
    type        = "kvm"
    vcpu        = 2
  }
}

resource "terraform_data" "worker_disk_size" {
  for_each = local.worker

  triggers_replace = 42949672960

  provisioner "local-exec" {
    command = libvirt_volume.worker_disk[each.key].capacity < 42949672960 ? "virsh -c \"$URI\" vol-resize --pool \"$POOL\" \"$VOLUME\" \"$CAPACITY\"" : "true"
    environment = {
      CAPACITY = "42949672960"
      POOL     = libvirt_volume.worker_disk[each.key].pool
      URI      = "qemu:///system"
      VOLUME   = libvirt_volume.worker_disk[each.key].name
    }
  }
}

resource "terraform_data" "worker_hardware" {
  for_each = local.worker

  triggers_replace = {
    autostart   = true
    disk        = 42949672960
    extra_disks = []
    loader      = "bios"
    mac         = each.value.mac
    memory      = 8192
    network     = "br0"
    seed        = each.value.seed
    type        = "kvm"
    vcpu        = 4
  }
}
