locals {
  machines = {
    demo-cp-1 = "controlplane"
    demo-w-1  = "worker"
  }
}

resource "talosmith_simulated_machine" "example" {
  for_each = local.machines
  name     = each.key
  cluster  = "demo"
}

resource "talosmith_cluster" "example" {
  name               = "demo"
  endpoint           = "https://${talosmith_simulated_machine.example["demo-cp-1"].address}:6443"
  talos_version      = "v1.13.9"
  kubernetes_version = "1.36.3"

  machines = { for name, role in local.machines : name => {
    role        = role
    address     = talosmith_simulated_machine.example[name].address
    fingerprint = talosmith_simulated_machine.example[name].fingerprint
  } }

  timeouts = {
    create = "20m"
  }
}
