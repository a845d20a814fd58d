# Written by `talosmith synth pods --hcl` from environments/pods.yaml; change that file, not this one.

output "cluster_endpoint" {
  value = "https://${kubernetes_service_v1.endpoint.status[0].load_balancer[0].ingress[0].ip}:6443"
}

output "control_plane_ips" {
  value = [for key, machine in local.control_plane : kubernetes_service_v1.control_plane_service[key].status[0].load_balancer[0].ingress[0].ip]
}

output "installer_image" {
  value = "ghcr.io/siderolabs/installer:v1.13.9"
}

output "kubeconfig_path" {
  value = talosmith_client_files.client.kubeconfig_path
}

output "talosconfig_path" {
  value = talosmith_client_files.client.talosconfig_path
}

output "worker_ips" {
  value = [for key, machine in local.general : kubernetes_service_v1.general_service[key].status[0].load_balancer[0].ingress[0].ip]
}
