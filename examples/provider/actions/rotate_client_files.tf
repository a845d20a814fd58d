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

resource "talosmith_client_files" "example" {
  cluster_name     = talosmith_cluster.example.name
  endpoints        = [talosmith_simulated_machine.example.address]
  kubeconfig_path  = "generated/demo/kubeconfig"
  talosconfig_path = "generated/demo/talosconfig"
}

# terraform apply -invoke=action.talosmith_rotate_client_files.example
action "talosmith_rotate_client_files" "example" {
  config {
    cluster_name     = "demo"
    endpoints        = [talosmith_simulated_machine.example.address]
    kubeconfig_path  = "generated/demo/kubeconfig"
    talosconfig_path = "generated/demo/talosconfig"
  }
}
