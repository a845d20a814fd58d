# Written by `talosmith synth docker --hcl` from environments/docker.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# Memberships: each ends, by leaving, before its machine does.
resource "talosmith_member" "control_plane" {
  for_each = local.control_plane

  name       = "docker-${each.key}"
  address    = each.value.address
  cluster    = "docker"
  machine_id = docker_volume.control_plane_state[each.key].id

  depends_on = [docker_container.control_plane]
}

resource "talosmith_member" "worker" {
  for_each = local.worker

  name       = "docker-${each.key}"
  address    = each.value.address
  cluster    = "docker"
  machine_id = docker_volume.worker_state[each.key].id

  depends_on = [docker_container.worker]
}

# The cluster: configs, bring-up, upgrades and end of the machines that it lists.
resource "talosmith_cluster" "cluster" {
  name                = "docker"
  additional_sans     = ["127.0.0.1"]
  config_contract     = "v1.13"
  endpoint            = "https://10.5.0.2:6443"
  infrastructure_kind = "container"
  kubernetes_version  = "1.36.3"
  talos_version       = "v1.13.9"
  trust_on_first_use  = true
  machines = merge(
    { for key, machine in local.control_plane : "docker-${key}" => {
      role      = "controlplane"
      address   = machine.address
      member_id = talosmith_member.control_plane[key].id
    } },
    { for key, machine in local.worker : "docker-${key}" => {
      role      = "worker"
      address   = machine.address
      member_id = talosmith_member.worker[key].id
    } },
  )
}

# Files that give access to the cluster.
resource "talosmith_client_files" "client" {
  cluster_name     = "docker"
  endpoints        = [for machine in local.control_plane : machine.address]
  keep_on_disk     = false
  kubeconfig_path  = "generated/docker/kubeconfig"
  talosconfig_path = "generated/docker/talosconfig"

  depends_on = [talosmith_cluster.cluster]
}
