resource "talosmith_simulated_machine" "example" {
  name    = "demo-cp-1"
  cluster = "demo"
}

# Stands between the machine and the cluster: a machine that is taken out leaves before it is destroyed.
resource "talosmith_member" "example" {
  name       = talosmith_simulated_machine.example.name
  cluster    = "demo"
  machine_id = talosmith_simulated_machine.example.id
  address    = talosmith_simulated_machine.example.address
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
      member_id   = talosmith_member.example.id
    }
  }
}
