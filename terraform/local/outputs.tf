# Written by `talosmith synth local --hcl` from environments/local.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

output "cluster_endpoint" {
  description = "URL of the Kubernetes API."
  value       = "https://${talosmith_simulated_machine.control_plane["cp-1"].address}:6443"
}

output "control_plane_ips" {
  description = "Addresses of the Talos API of the control planes."
  value       = [for key, machine in local.control_plane : talosmith_simulated_machine.control_plane[key].address]
}

output "installer_image" {
  description = "Installer that the machines are upgraded with."
  value       = "ghcr.io/siderolabs/installer:v1.13.9"
}

output "kubeconfig_path" {
  description = "Where the kubeconfig is, from the project's root."
  value       = talosmith_client_files.client.kubeconfig_path
}

output "talosconfig_path" {
  description = "Where the talosconfig is, from the project's root."
  value       = talosmith_client_files.client.talosconfig_path
}

output "worker_ips" {
  description = "Addresses of the Talos API of the workers."
  value       = [for key, machine in local.worker : talosmith_simulated_machine.worker[key].address]
}
