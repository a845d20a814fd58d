# Written by `talosmith synth docker --hcl` from environments/docker.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# Machines. A newer image reaches them one by one, with -replace.
resource "docker_container" "control_plane" {
  for_each = local.control_plane

  name          = "docker-${each.key}"
  cgroupns_mode = "private"
  cpus          = "2"
  env           = ["PLATFORM=container"]
  hostname      = "docker-${each.key}"
  image         = "ghcr.io/siderolabs/talos:v1.13.9"
  memory        = 2048
  privileged    = true
  read_only     = true
  restart       = "unless-stopped"
  security_opts = ["seccomp=unconfined", "label=disable"]
  sysctls       = { "net.ipv6.conf.all.disable_ipv6" = "0" }

  # A newer image would replace every container at once, etcd and all.
  lifecycle {
    ignore_changes = [image]
  }

  mounts {
    target = "/run"
    type   = "tmpfs"
  }

  mounts {
    target = "/system"
    type   = "tmpfs"
  }

  mounts {
    target = "/tmp"
    type   = "tmpfs"
  }

  mounts {
    source = docker_volume.control_plane_state[each.key].name
    target = "/system/state"
    type   = "volume"
  }

  mounts {
    source = docker_volume.control_plane_ephemeral[each.key].name
    target = "/var"
    type   = "volume"
  }

  mounts {
    target = "/etc/cni"
    type   = "volume"
  }

  mounts {
    target = "/etc/kubernetes"
    type   = "volume"
  }

  mounts {
    target = "/usr/libexec/kubernetes"
    type   = "volume"
  }

  mounts {
    target = "/opt"
    type   = "volume"
  }

  networks_advanced {
    name         = docker_network.network.name
    ipv4_address = each.value.address
  }

  dynamic "ports" {
    for_each = each.value.ports

    content {
      external = ports.value.external
      internal = ports.value.internal
      ip       = "127.0.0.1"
    }
  }
}

resource "docker_container" "worker" {
  for_each = local.worker

  name          = "docker-${each.key}"
  cgroupns_mode = "private"
  env           = ["PLATFORM=container"]
  hostname      = "docker-${each.key}"
  image         = "ghcr.io/siderolabs/talos:v1.13.9"
  memory        = 2048
  privileged    = true
  read_only     = true
  restart       = "unless-stopped"
  security_opts = ["seccomp=unconfined", "label=disable"]
  sysctls       = { "net.ipv6.conf.all.disable_ipv6" = "0" }

  # A newer image would replace every container at once, etcd and all.
  lifecycle {
    ignore_changes = [image]
  }

  mounts {
    target = "/run"
    type   = "tmpfs"
  }

  mounts {
    target = "/system"
    type   = "tmpfs"
  }

  mounts {
    target = "/tmp"
    type   = "tmpfs"
  }

  mounts {
    source = docker_volume.worker_state[each.key].name
    target = "/system/state"
    type   = "volume"
  }

  mounts {
    source = docker_volume.worker_ephemeral[each.key].name
    target = "/var"
    type   = "volume"
  }

  mounts {
    target = "/etc/cni"
    type   = "volume"
  }

  mounts {
    target = "/etc/kubernetes"
    type   = "volume"
  }

  mounts {
    target = "/usr/libexec/kubernetes"
    type   = "volume"
  }

  mounts {
    target = "/opt"
    type   = "volume"
  }

  networks_advanced {
    name         = docker_network.network.name
    ipv4_address = each.value.address
  }
}
