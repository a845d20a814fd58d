# Written by `talosmith synth lab --hcl` from environments/lab.yaml; change that file, not this one.

output "cluster_endpoint" {
  value = "https://10.0.0.100:6443"
}

output "cluster_vip" {
  value = "10.0.0.100"
}

output "control_plane_ips" {
  value = [for machine in local.control_plane : machine.address]
}

output "installer_image" {
  value = "factory.talos.dev/nocloud-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.13.9"
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
