# Written by `talosmith synth metal --hcl` from environments/metal.yaml; change that file, not this one.

output "cluster_endpoint" {
  value = "https://10.20.0.10:6443"
}

output "cluster_vip" {
  value = "10.20.0.10"
}

output "control_plane_ips" {
  value = [for machine in local.control_plane : machine.address]
}

output "installer_image" {
  value = "factory.talos.dev/metal-installer/c9078f9419961640c712a8bf2bb9174933dfcf1da383fd8ea2b7dc21493f8bac:v1.13.9"
}

output "kubeconfig_path" {
  value = talosmith_client_files.client.kubeconfig_path
}

output "talosconfig_path" {
  value = talosmith_client_files.client.talosconfig_path
}

output "worker_ips" {
  value = [for machine in local.storage : machine.address]
}
