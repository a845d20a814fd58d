# Written by `talosmith synth pods --hcl` from environments/pods.yaml; change that file, not this one.

# Memberships: each ends, by leaving, before its machine does.
resource "talosmith_member" "cp_1" {
  name       = "tenant-cp-1"
  address    = kubernetes_service_v1.cp_1_service.status[0].load_balancer[0].ingress[0].ip
  cluster    = "tenant"
  machine_id = kubernetes_stateful_set_v1.cp_1.metadata[0].uid

  depends_on = [kubernetes_stateful_set_v1.cp_1]
}

resource "talosmith_member" "cp_2" {
  name       = "tenant-cp-2"
  address    = kubernetes_service_v1.cp_2_service.status[0].load_balancer[0].ingress[0].ip
  cluster    = "tenant"
  machine_id = kubernetes_stateful_set_v1.cp_2.metadata[0].uid

  depends_on = [kubernetes_stateful_set_v1.cp_2]
}

resource "talosmith_member" "cp_3" {
  name       = "tenant-cp-3"
  address    = kubernetes_service_v1.cp_3_service.status[0].load_balancer[0].ingress[0].ip
  cluster    = "tenant"
  machine_id = kubernetes_stateful_set_v1.cp_3.metadata[0].uid

  depends_on = [kubernetes_stateful_set_v1.cp_3]
}

resource "talosmith_member" "general_1" {
  name       = "tenant-general-1"
  address    = kubernetes_service_v1.general_1_service.status[0].load_balancer[0].ingress[0].ip
  cluster    = "tenant"
  machine_id = kubernetes_stateful_set_v1.general_1.metadata[0].uid

  depends_on = [kubernetes_stateful_set_v1.general_1]
}

resource "talosmith_member" "general_2" {
  name       = "tenant-general-2"
  address    = kubernetes_service_v1.general_2_service.status[0].load_balancer[0].ingress[0].ip
  cluster    = "tenant"
  machine_id = kubernetes_stateful_set_v1.general_2.metadata[0].uid

  depends_on = [kubernetes_stateful_set_v1.general_2]
}

# The cluster: configs, bring-up, upgrades and end of the machines that it lists.
resource "talosmith_cluster" "cluster" {
  name                = "tenant"
  additional_sans     = [kubernetes_service_v1.endpoint.status[0].load_balancer[0].ingress[0].ip]
  endpoint            = "https://${kubernetes_service_v1.endpoint.status[0].load_balancer[0].ingress[0].ip}:6443"
  infrastructure_kind = "container"
  kubernetes_version  = "1.36.3"
  talos_version       = "v1.13.9"
  trust_on_first_use  = true
  machines = {
    "tenant-cp-1" = {
      address   = kubernetes_service_v1.cp_1_service.status[0].load_balancer[0].ingress[0].ip
      member_id = talosmith_member.cp_1.id
      patches = [
        "machine:\n  certSANs:\n    - ${kubernetes_service_v1.cp_1_service.status[0].load_balancer[0].ingress[0].ip}\n",
      ]
      role = "controlplane"
    }
    "tenant-cp-2" = {
      address   = kubernetes_service_v1.cp_2_service.status[0].load_balancer[0].ingress[0].ip
      member_id = talosmith_member.cp_2.id
      patches = [
        "machine:\n  certSANs:\n    - ${kubernetes_service_v1.cp_2_service.status[0].load_balancer[0].ingress[0].ip}\n",
      ]
      role = "controlplane"
    }
    "tenant-cp-3" = {
      address   = kubernetes_service_v1.cp_3_service.status[0].load_balancer[0].ingress[0].ip
      member_id = talosmith_member.cp_3.id
      patches = [
        "machine:\n  certSANs:\n    - ${kubernetes_service_v1.cp_3_service.status[0].load_balancer[0].ingress[0].ip}\n",
      ]
      role = "controlplane"
    }
    "tenant-general-1" = {
      address   = kubernetes_service_v1.general_1_service.status[0].load_balancer[0].ingress[0].ip
      member_id = talosmith_member.general_1.id
      patches = [
        "machine:\n  certSANs:\n    - ${kubernetes_service_v1.general_1_service.status[0].load_balancer[0].ingress[0].ip}\n",
      ]
      role = "worker"
    }
    "tenant-general-2" = {
      address   = kubernetes_service_v1.general_2_service.status[0].load_balancer[0].ingress[0].ip
      member_id = talosmith_member.general_2.id
      patches = [
        "machine:\n  certSANs:\n    - ${kubernetes_service_v1.general_2_service.status[0].load_balancer[0].ingress[0].ip}\n",
      ]
      role = "worker"
    }
  }
}

# Files that give access to the cluster.
resource "talosmith_client_files" "client" {
  cluster_name     = "tenant"
  keep_on_disk     = false
  kubeconfig_path  = "generated/pods/kubeconfig"
  talosconfig_path = "generated/pods/talosconfig"
  endpoints = [
    kubernetes_service_v1.cp_1_service.status[0].load_balancer[0].ingress[0].ip,
    kubernetes_service_v1.cp_2_service.status[0].load_balancer[0].ingress[0].ip,
    kubernetes_service_v1.cp_3_service.status[0].load_balancer[0].ingress[0].ip,
  ]
  nodes = [
    kubernetes_service_v1.cp_1_service.status[0].load_balancer[0].ingress[0].ip,
    kubernetes_service_v1.cp_2_service.status[0].load_balancer[0].ingress[0].ip,
    kubernetes_service_v1.cp_3_service.status[0].load_balancer[0].ingress[0].ip,
    kubernetes_service_v1.general_1_service.status[0].load_balancer[0].ingress[0].ip,
    kubernetes_service_v1.general_2_service.status[0].load_balancer[0].ingress[0].ip,
  ]

  depends_on = [talosmith_cluster.cluster]
}
