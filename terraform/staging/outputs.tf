# Written by `talosmith synth staging --hcl` from environments/staging.yaml; change that file, not this one.

output "backup_bucket" {
  value = aws_s3_bucket.backups.bucket
}

output "cluster_endpoint" {
  value = "https://k8s.staging.example.com:6443"
}

output "control_plane_ips" {
  value = [for key, machine in local.control_plane : aws_instance.control_plane[key].private_ip]
}

output "installer_image" {
  value = "factory.talos.dev/aws-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.13.9"
}

output "kubeconfig_path" {
  value = talosmith_client_files.client.kubeconfig_path
}

output "load_balancer_dns" {
  value = aws_lb.api.dns_name
}

output "talosconfig_path" {
  value = talosmith_client_files.client.talosconfig_path
}

output "worker_ips" {
  value = [for key, machine in local.worker : aws_instance.worker[key].private_ip]
}
