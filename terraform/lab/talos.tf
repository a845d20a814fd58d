# Written by `talosmith synth lab --hcl` from environments/lab.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# Memberships: each ends, by leaving, before its machine does.
resource "talosmith_member" "control_plane" {
  for_each = local.control_plane

  name       = "talos-${each.key}"
  address    = each.value.address
  cluster    = "talos"
  machine_id = libvirt_volume.control_plane_disk[each.key].id

  depends_on = [libvirt_domain.control_plane]
}

resource "talosmith_member" "worker" {
  for_each = local.worker

  name       = "talos-${each.key}"
  address    = each.value.address
  cluster    = "talos"
  machine_id = libvirt_volume.worker_disk[each.key].id

  depends_on = [libvirt_domain.worker]
}

# The cluster: configs, bring-up, upgrades and end of the machines that it lists.
resource "talosmith_cluster" "cluster" {
  name                = "talos"
  additional_sans     = ["10.0.0.100"]
  config_contract     = "v1.13"
  endpoint            = "https://10.0.0.100:6443"
  infrastructure_kind = "libvirt"
  install_disk        = "/dev/vda"
  install_image       = "factory.talos.dev/nocloud-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.13.9"
  kubernetes_version  = "1.36.3"
  talos_version       = "v1.13.9"
  trust_on_first_use  = true
  machines = merge(
    { for key, machine in local.control_plane : "talos-${key}" => {
      role        = "controlplane"
      address     = machine.address
      member_id   = talosmith_member.control_plane[key].id
      hardware_id = terraform_data.control_plane_hardware[key].id
      disk_size   = 21474836480
      patches = [
        "machine:\n  network:\n    interfaces:\n      - deviceSelector:\n          hardwareAddr: ${machine.mac}\n        vip:\n          ip: 10.0.0.100\n",
      ]
    } },
    { for key, machine in local.worker : "talos-${key}" => {
      role        = "worker"
      address     = machine.address
      member_id   = talosmith_member.worker[key].id
      hardware_id = terraform_data.worker_hardware[key].id
      disk_size   = 42949672960
    } },
  )
}

# Files that give access to the cluster.
resource "talosmith_client_files" "client" {
  cluster_name     = "talos"
  endpoints        = [for machine in local.control_plane : machine.address]
  keep_on_disk     = false
  kubeconfig_path  = "generated/lab/kubeconfig"
  talosconfig_path = "generated/lab/talosconfig"

  depends_on = [talosmith_cluster.cluster]
}
