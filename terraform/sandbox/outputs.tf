# Written by `talosmith synth sandbox --hcl` from environments/sandbox.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

output "cluster_endpoint" {
  description = "URL of the Kubernetes API."
  value       = "https://k8s.sandbox.example.com:6443"
}

output "control_plane_ips" {
  description = "Addresses of the Talos API of the control planes."
  value       = [for key, machine in local.control_plane : aws_eip.control_plane_address[key].public_ip]
}

output "installer_image" {
  description = "Installer that the machines are upgraded with."
  value       = "factory.talos.dev/aws-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.13.9"
}

output "kubeconfig_path" {
  description = "Where the kubeconfig is, from the project's root."
  value       = talosmith_client_files.client.kubeconfig_path
}

output "load_balancer_dns" {
  description = "Name of the load balancer in front of the control planes."
  value       = aws_lb.api.dns_name
}

output "talosconfig_path" {
  description = "Where the talosconfig is, from the project's root."
  value       = talosmith_client_files.client.talosconfig_path
}

output "worker_ips" {
  description = "Addresses of the Talos API of the workers."
  value       = [for key, machine in local.worker : aws_instance.worker[key].public_ip]
}
