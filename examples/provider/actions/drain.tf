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
}

# terraform apply -invoke=action.talosmith_drain.example
action "talosmith_drain" "example" {
  config {
    endpoints = [talosmith_simulated_machine.example.address]
    machine   = "demo-cp-1"
  }
}
