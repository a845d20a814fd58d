# Written by `talosmith synth lab --hcl` from environments/lab.yaml; change that file, not this one.

# Memberships: each ends, by leaving, before its machine does.
resource "talosmith_member" "cp_1" {
  name       = "talos-cp-1"
  address    = "10.0.0.70"
  cluster    = "talos"
  machine_id = libvirt_volume.cp_1_disk.id

  depends_on = [libvirt_domain.cp_1]
}

resource "talosmith_member" "cp_2" {
  name       = "talos-cp-2"
  address    = "10.0.0.71"
  cluster    = "talos"
  machine_id = libvirt_volume.cp_2_disk.id

  depends_on = [libvirt_domain.cp_2]
}

resource "talosmith_member" "cp_3" {
  name       = "talos-cp-3"
  address    = "10.0.0.72"
  cluster    = "talos"
  machine_id = libvirt_volume.cp_3_disk.id

  depends_on = [libvirt_domain.cp_3]
}

resource "talosmith_member" "w_1" {
  name       = "talos-w-1"
  address    = "10.0.0.80"
  cluster    = "talos"
  machine_id = libvirt_volume.w_1_disk.id

  depends_on = [libvirt_domain.w_1]
}

resource "talosmith_member" "w_2" {
  name       = "talos-w-2"
  address    = "10.0.0.81"
  cluster    = "talos"
  machine_id = libvirt_volume.w_2_disk.id

  depends_on = [libvirt_domain.w_2]
}

# The cluster: configs, bring-up, upgrades and end of the machines that it lists.
resource "talosmith_cluster" "cluster" {
  name                = "talos"
  additional_sans     = ["10.0.0.100"]
  endpoint            = "https://10.0.0.100:6443"
  infrastructure_kind = "libvirt"
  install_disk        = "/dev/vda"
  install_image       = "factory.talos.dev/nocloud-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.13.9"
  kubernetes_version  = "1.36.3"
  talos_version       = "v1.13.9"
  trust_on_first_use  = true
  machines = {
    "talos-cp-1" = {
      address     = "10.0.0.70"
      hardware_id = terraform_data.cp_1_hardware.id
      member_id   = talosmith_member.cp_1.id
      patches = [
        "machine:\n  network:\n    interfaces:\n      - deviceSelector:\n          hardwareAddr: 52:54:00:c1:00:01\n        vip:\n          ip: 10.0.0.100\n",
      ]
      role = "controlplane"
    }
    "talos-cp-2" = {
      address     = "10.0.0.71"
      hardware_id = terraform_data.cp_2_hardware.id
      member_id   = talosmith_member.cp_2.id
      patches = [
        "machine:\n  network:\n    interfaces:\n      - deviceSelector:\n          hardwareAddr: 52:54:00:c1:00:02\n        vip:\n          ip: 10.0.0.100\n",
      ]
      role = "controlplane"
    }
    "talos-cp-3" = {
      address     = "10.0.0.72"
      hardware_id = terraform_data.cp_3_hardware.id
      member_id   = talosmith_member.cp_3.id
      patches = [
        "machine:\n  network:\n    interfaces:\n      - deviceSelector:\n          hardwareAddr: 52:54:00:c1:00:03\n        vip:\n          ip: 10.0.0.100\n",
      ]
      role = "controlplane"
    }
    "talos-w-1" = {
      address   = "10.0.0.80"
      member_id = talosmith_member.w_1.id
      role      = "worker"
    }
    "talos-w-2" = {
      address   = "10.0.0.81"
      member_id = talosmith_member.w_2.id
      role      = "worker"
    }
  }
}

# Files that give access to the cluster.
resource "talosmith_client_files" "client" {
  cluster_name     = "talos"
  endpoints        = ["10.0.0.70", "10.0.0.71", "10.0.0.72"]
  keep_on_disk     = false
  kubeconfig_path  = "generated/lab/kubeconfig"
  nodes            = ["10.0.0.70", "10.0.0.71", "10.0.0.72", "10.0.0.80", "10.0.0.81"]
  talosconfig_path = "generated/lab/talosconfig"

  depends_on = [talosmith_cluster.cluster]
}
