# Written by `talosmith synth docker --hcl` from environments/docker.yaml; change that file, not this one.

# Memberships: each ends, by leaving, before its machine does.
resource "talosmith_member" "cp_1" {
  name       = "docker-cp-1"
  address    = "10.5.0.2"
  cluster    = "docker"
  machine_id = docker_volume.cp_1_state.id

  depends_on = [docker_container.cp_1]
}

resource "talosmith_member" "w_1" {
  name       = "docker-w-1"
  address    = "10.5.0.20"
  cluster    = "docker"
  machine_id = docker_volume.w_1_state.id

  depends_on = [docker_container.w_1]
}

# The cluster: configs, bring-up, upgrades and end of the machines that it lists.
resource "talosmith_cluster" "cluster" {
  name                = "docker"
  additional_sans     = ["127.0.0.1"]
  endpoint            = "https://10.5.0.2:6443"
  infrastructure_kind = "container"
  kubernetes_version  = "1.36.3"
  talos_version       = "v1.13.9"
  trust_on_first_use  = true
  machines = {
    "docker-cp-1" = {
      address   = "10.5.0.2"
      member_id = talosmith_member.cp_1.id
      role      = "controlplane"
    }
    "docker-w-1" = {
      address   = "10.5.0.20"
      member_id = talosmith_member.w_1.id
      role      = "worker"
    }
  }
}

# Files that give access to the cluster.
resource "talosmith_client_files" "client" {
  cluster_name     = "docker"
  endpoints        = ["10.5.0.2"]
  keep_on_disk     = false
  kubeconfig_path  = "generated/docker/kubeconfig"
  nodes            = ["10.5.0.2", "10.5.0.20"]
  talosconfig_path = "generated/docker/talosconfig"

  depends_on = [talosmith_cluster.cluster]
}
