# Written by `talosmith synth lab --hcl` from environments/lab.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

output "cluster_endpoint" {
  description = "URL of the Kubernetes API."
  value       = "https://10.0.0.100:6443"
}

output "cluster_vip" {
  description = "Address that the control planes share."
  value       = "10.0.0.100"
}

output "control_plane_ips" {
  description = "Addresses of the Talos API of the control planes."
  value       = [for machine in local.control_plane : machine.address]
}

output "installer_image" {
  description = "Installer that the machines are upgraded with."
  value       = "factory.talos.dev/nocloud-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.13.9"
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
