# Written by `talosmith synth sandbox --hcl` from environments/sandbox.yaml; change that file, not this one.

# Memberships: each ends, by leaving, before its machine does.
resource "talosmith_member" "cp_1" {
  name       = "sandbox-cp-1"
  address    = aws_instance.cp_1.public_ip
  cluster    = "sandbox"
  machine_id = aws_instance.cp_1.id

  depends_on = [
    aws_instance.cp_1,
    aws_lb_target_group_attachment.cp_1_kubernetes_target,
    aws_vpc_security_group_ingress_rule.allow_load_balancer_kubernetes_cp_1_1,
    terraform_data.reachable,
  ]
}

resource "talosmith_member" "w_1" {
  name       = "sandbox-w-1"
  address    = aws_instance.w_1.public_ip
  cluster    = "sandbox"
  machine_id = aws_instance.w_1.id

  depends_on = [
    aws_instance.w_1,
    aws_vpc_security_group_ingress_rule.allow_load_balancer_kubernetes_w_1_1,
    terraform_data.reachable,
  ]
}

# The cluster: configs, bring-up, upgrades and end of the machines that it lists.
resource "talosmith_cluster" "cluster" {
  name                = "sandbox"
  endpoint            = "https://k8s.sandbox.example.com:6443"
  infrastructure_kind = "aws"
  install_image       = "factory.talos.dev/aws-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.13.9"
  kubernetes_version  = "1.36.3"
  talos_version       = "v1.13.9"
  trust_on_first_use  = true
  machines = {
    "sandbox-cp-1" = {
      address     = aws_instance.cp_1.public_ip
      hardware_id = terraform_data.cp_1_hardware.id
      member_id   = talosmith_member.cp_1.id
      role        = "controlplane"
    }
    "sandbox-w-1" = {
      address   = aws_instance.w_1.public_ip
      member_id = talosmith_member.w_1.id
      role      = "worker"
    }
  }
}

# Files that give access to the cluster.
resource "talosmith_client_files" "client" {
  cluster_name     = "sandbox"
  endpoints        = [aws_instance.cp_1.public_ip]
  keep_on_disk     = false
  kubeconfig_path  = "generated/sandbox/kubeconfig"
  nodes            = [aws_instance.cp_1.public_ip, aws_instance.w_1.public_ip]
  talosconfig_path = "generated/sandbox/talosconfig"

  depends_on = [talosmith_cluster.cluster]
}
