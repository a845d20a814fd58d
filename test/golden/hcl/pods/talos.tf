# Written by `talosmith synth pods --hcl` from environments/pods.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# Memberships: each ends, by leaving, before its machine does.
resource "talosmith_member" "control_plane" {
  for_each = local.control_plane

  name       = "tenant-${each.key}"
  address    = kubernetes_service_v1.control_plane_service[each.key].status[0].load_balancer[0].ingress[0].ip
  cluster    = "tenant"
  machine_id = kubernetes_stateful_set_v1.control_plane[each.key].metadata[0].uid

  depends_on = [kubernetes_stateful_set_v1.control_plane]
}

resource "talosmith_member" "general" {
  for_each = local.general

  name       = "tenant-${each.key}"
  address    = kubernetes_service_v1.general_service[each.key].status[0].load_balancer[0].ingress[0].ip
  cluster    = "tenant"
  machine_id = kubernetes_stateful_set_v1.general[each.key].metadata[0].uid

  depends_on = [kubernetes_stateful_set_v1.general]
}

# The cluster: configs, bring-up, upgrades and end of the machines that it lists.
resource "talosmith_cluster" "cluster" {
  name                = "tenant"
  additional_sans     = [kubernetes_service_v1.endpoint.status[0].load_balancer[0].ingress[0].ip]
  config_contract     = "v1.13"
  endpoint            = "https://${kubernetes_service_v1.endpoint.status[0].load_balancer[0].ingress[0].ip}:6443"
  infrastructure_kind = "container"
  kubernetes_version  = "1.36.3"
  talos_version       = "v1.13.9"
  trust_on_first_use  = true
  machines = merge(
    { for key, machine in local.control_plane : "tenant-${key}" => {
      role      = "controlplane"
      address   = kubernetes_service_v1.control_plane_service[key].status[0].load_balancer[0].ingress[0].ip
      member_id = talosmith_member.control_plane[key].id
      patches = [
        "machine:\n  certSANs:\n    - ${kubernetes_service_v1.control_plane_service[key].status[0].load_balancer[0].ingress[0].ip}\n",
      ]
    } },
    { for key, machine in local.general : "tenant-${key}" => {
      role      = "worker"
      address   = kubernetes_service_v1.general_service[key].status[0].load_balancer[0].ingress[0].ip
      member_id = talosmith_member.general[key].id
      patches = [
        "machine:\n  certSANs:\n    - ${kubernetes_service_v1.general_service[key].status[0].load_balancer[0].ingress[0].ip}\n",
      ]
    } },
  )
}

# Files that give access to the cluster.
resource "talosmith_client_files" "client" {
  cluster_name     = "tenant"
  endpoints        = [for key, machine in local.control_plane : kubernetes_service_v1.control_plane_service[key].status[0].load_balancer[0].ingress[0].ip]
  keep_on_disk     = false
  kubeconfig_path  = "generated/pods/kubeconfig"
  talosconfig_path = "generated/pods/talosconfig"

  depends_on = [talosmith_cluster.cluster]
}
