# Written by `talosmith synth docker --hcl` from environments/docker.yaml; change that file, not this one.

output "cluster_endpoint" {
  value = "https://10.5.0.2:6443"
}

output "control_plane_ips" {
  value = [for machine in local.control_plane : machine.address]
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
  value = [for machine in local.worker : machine.address]
}
