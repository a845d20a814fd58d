# Written by `talosmith synth local --hcl` from environments/local.yaml; change that file, not this one.

output "cluster_endpoint" {
  value = "https://${talosmith_simulated_machine.control_plane["cp-1"].address}:6443"
}

output "control_plane_ips" {
  value = [for key, machine in local.control_plane : talosmith_simulated_machine.control_plane[key].address]
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
  value = [for key, machine in local.worker : talosmith_simulated_machine.worker[key].address]
}
