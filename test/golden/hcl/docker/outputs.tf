# Written by `talosmith synth docker --hcl` from environments/docker.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

output "cluster_endpoint" {
  description = "URL of the Kubernetes API."
  value       = "https://10.5.0.2:6443"
}

output "control_plane_ips" {
  description = "Addresses of the Talos API of the control planes."
  value       = [for machine in local.control_plane : machine.address]
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
  value       = [for machine in local.worker : machine.address]
}
