resource "talosmith_simulated_machine" "example" {
  name    = "demo-cp-1"
  cluster = "demo"
}

resource "talosmith_cluster" "example" {
  name               = "demo"
  endpoint           = "https://${talosmith_simulated_machine.example.address}:6443"
  talos_version      = "v1.13.9"
  kubernetes_version = "1.36.3"

  machines = {
    demo-cp-1 = {
      role        = "controlplane"
      address     = talosmith_simulated_machine.example.address
      fingerprint = talosmith_simulated_machine.example.fingerprint
    }
  }

  lifecycle {
    action_trigger {
      events  = [before_update]
      actions = [action.talosmith_etcd_snapshot.example]
    }
  }
}

# Every change of the cluster begins with a backup.
action "talosmith_etcd_snapshot" "example" {
  config {
    cluster_name = "demo"
    endpoints    = [talosmith_simulated_machine.example.address]
    directory    = "backups/demo"
  }
}
