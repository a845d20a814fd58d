# Written by `talosmith synth local --hcl` from environments/local.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# Memberships: each ends, by leaving, before its machine does.
resource "talosmith_member" "control_plane" {
  for_each = local.control_plane

  name       = "local-${each.key}"
  address    = talosmith_simulated_machine.control_plane[each.key].address
  cluster    = "local"
  machine_id = talosmith_simulated_machine.control_plane[each.key].id

  depends_on = [talosmith_simulated_machine.control_plane]
}

resource "talosmith_member" "worker" {
  for_each = local.worker

  name       = "local-${each.key}"
  address    = talosmith_simulated_machine.worker[each.key].address
  cluster    = "local"
  machine_id = talosmith_simulated_machine.worker[each.key].id

  depends_on = [talosmith_simulated_machine.worker]
}

# The cluster: configs, bring-up, upgrades and end of the machines that it lists.
resource "talosmith_cluster" "cluster" {
  name                = "local"
  config_contract     = "v1.13"
  endpoint            = "https://${talosmith_simulated_machine.control_plane["cp-1"].address}:6443"
  infrastructure_kind = "simulated"
  kubernetes_version  = "1.36.3"
  talos_version       = "v1.13.9"
  machines = merge(
    { for key, machine in local.control_plane : "local-${key}" => {
      role        = "controlplane"
      address     = talosmith_simulated_machine.control_plane[key].address
      fingerprint = talosmith_simulated_machine.control_plane[key].fingerprint
      member_id   = talosmith_member.control_plane[key].id
    } },
    { for key, machine in local.worker : "local-${key}" => {
      role        = "worker"
      address     = talosmith_simulated_machine.worker[key].address
      fingerprint = talosmith_simulated_machine.worker[key].fingerprint
      member_id   = talosmith_member.worker[key].id
    } },
  )
}

# Files that give access to the cluster.
resource "talosmith_client_files" "client" {
  cluster_name     = "local"
  endpoints        = [for key, machine in local.control_plane : talosmith_simulated_machine.control_plane[key].address]
  kubeconfig_path  = "generated/local/kubeconfig"
  talosconfig_path = "generated/local/talosconfig"

  depends_on = [talosmith_cluster.cluster]
}
