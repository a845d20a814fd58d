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

ephemeral "talosmith_talosconfig" "example" {
  cluster_name = talosmith_cluster.example.name
  endpoints    = [talosmith_simulated_machine.example.address]
  roles        = ["os:reader"]
  ttl_hours    = 2
  depends_on   = [talosmith_cluster.example]
}
