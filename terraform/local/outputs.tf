# Written by `talosmith synth local --hcl` from environments/local.yaml; change that file, not this one.

output "cluster_endpoint" {
  value = "https://${talosmith_simulated_machine.cp_1.address}:6443"
}

output "control_plane_ips" {
  value = [
    talosmith_simulated_machine.cp_1.address,
    talosmith_simulated_machine.cp_2.address,
    talosmith_simulated_machine.cp_3.address,
  ]
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
  value = [talosmith_simulated_machine.w_1.address, talosmith_simulated_machine.w_2.address]
}
