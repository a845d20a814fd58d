# Written by `talosmith synth docker --hcl` from environments/docker.yaml; change that file, not this one.

# Machines. A newer image reaches them one by one, with -replace.
resource "docker_container" "cp_1" {
  name          = "docker-cp-1"
  cgroupns_mode = "private"
  cpus          = "2"
  env           = ["PLATFORM=container"]
  hostname      = "docker-cp-1"
  image         = "ghcr.io/siderolabs/talos:v1.13.9"
  memory        = 2048
  privileged    = true
  read_only     = true
  restart       = "unless-stopped"
  security_opts = ["seccomp=unconfined", "label=disable"]
  sysctls       = { "net.ipv6.conf.all.disable_ipv6" = "0" }

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
    source = docker_volume.cp_1_state.name
    target = "/system/state"
    type   = "volume"
  }

  mounts {
    source = docker_volume.cp_1_ephemeral.name
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
    ipv4_address = "10.5.0.2"
  }

  ports {
    external = 7443
    internal = 6443
    ip       = "127.0.0.1"
  }

  ports {
    external = 51000
    internal = 50000
    ip       = "127.0.0.1"
  }
}

resource "docker_container" "w_1" {
  name          = "docker-w-1"
  cgroupns_mode = "private"
  env           = ["PLATFORM=container"]
  hostname      = "docker-w-1"
  image         = "ghcr.io/siderolabs/talos:v1.13.9"
  memory        = 2048
  privileged    = true
  read_only     = true
  restart       = "unless-stopped"
  security_opts = ["seccomp=unconfined", "label=disable"]
  sysctls       = { "net.ipv6.conf.all.disable_ipv6" = "0" }

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
    source = docker_volume.w_1_state.name
    target = "/system/state"
    type   = "volume"
  }

  mounts {
    source = docker_volume.w_1_ephemeral.name
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
    ipv4_address = "10.5.0.20"
  }
}
