# Written by `talosmith synth local --hcl` from environments/local.yaml; change that file, not this one.

# Memberships: each ends, by leaving, before its machine does.
resource "talosmith_member" "cp_1" {
  name       = "local-cp-1"
  address    = talosmith_simulated_machine.cp_1.address
  cluster    = "local"
  machine_id = talosmith_simulated_machine.cp_1.id

  depends_on = [talosmith_simulated_machine.cp_1]
}

resource "talosmith_member" "cp_2" {
  name       = "local-cp-2"
  address    = talosmith_simulated_machine.cp_2.address
  cluster    = "local"
  machine_id = talosmith_simulated_machine.cp_2.id

  depends_on = [talosmith_simulated_machine.cp_2]
}

resource "talosmith_member" "cp_3" {
  name       = "local-cp-3"
  address    = talosmith_simulated_machine.cp_3.address
  cluster    = "local"
  machine_id = talosmith_simulated_machine.cp_3.id

  depends_on = [talosmith_simulated_machine.cp_3]
}

resource "talosmith_member" "w_1" {
  name       = "local-w-1"
  address    = talosmith_simulated_machine.w_1.address
  cluster    = "local"
  machine_id = talosmith_simulated_machine.w_1.id

  depends_on = [talosmith_simulated_machine.w_1]
}

resource "talosmith_member" "w_2" {
  name       = "local-w-2"
  address    = talosmith_simulated_machine.w_2.address
  cluster    = "local"
  machine_id = talosmith_simulated_machine.w_2.id

  depends_on = [talosmith_simulated_machine.w_2]
}

# The cluster: configs, bring-up, upgrades and end of the machines that it lists.
resource "talosmith_cluster" "cluster" {
  name                = "local"
  endpoint            = "https://${talosmith_simulated_machine.cp_1.address}:6443"
  infrastructure_kind = "simulated"
  kubernetes_version  = "1.36.3"
  talos_version       = "v1.13.9"
  machines = {
    "local-cp-1" = {
      address     = talosmith_simulated_machine.cp_1.address
      fingerprint = talosmith_simulated_machine.cp_1.fingerprint
      member_id   = talosmith_member.cp_1.id
      role        = "controlplane"
    }
    "local-cp-2" = {
      address     = talosmith_simulated_machine.cp_2.address
      fingerprint = talosmith_simulated_machine.cp_2.fingerprint
      member_id   = talosmith_member.cp_2.id
      role        = "controlplane"
    }
    "local-cp-3" = {
      address     = talosmith_simulated_machine.cp_3.address
      fingerprint = talosmith_simulated_machine.cp_3.fingerprint
      member_id   = talosmith_member.cp_3.id
      role        = "controlplane"
    }
    "local-w-1" = {
      address     = talosmith_simulated_machine.w_1.address
      fingerprint = talosmith_simulated_machine.w_1.fingerprint
      member_id   = talosmith_member.w_1.id
      role        = "worker"
    }
    "local-w-2" = {
      address     = talosmith_simulated_machine.w_2.address
      fingerprint = talosmith_simulated_machine.w_2.fingerprint
      member_id   = talosmith_member.w_2.id
      role        = "worker"
    }
  }
}

# Files that give access to the cluster.
resource "talosmith_client_files" "client" {
  cluster_name     = "local"
  kubeconfig_path  = "generated/local/kubeconfig"
  talosconfig_path = "generated/local/talosconfig"
  endpoints = [
    talosmith_simulated_machine.cp_1.address,
    talosmith_simulated_machine.cp_2.address,
    talosmith_simulated_machine.cp_3.address,
  ]
  nodes = [
    talosmith_simulated_machine.cp_1.address,
    talosmith_simulated_machine.cp_2.address,
    talosmith_simulated_machine.cp_3.address,
    talosmith_simulated_machine.w_1.address,
    talosmith_simulated_machine.w_2.address,
  ]

  depends_on = [talosmith_cluster.cluster]
}
