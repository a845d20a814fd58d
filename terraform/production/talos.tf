# Written by `talosmith synth production --hcl` from environments/production.yaml; change that file, not this one.

# First configs, for user-data. They hold secrets, and so does the state then.
data "talosmith_machine_config" "burst_config" {
  name               = "production"
  additional_sans    = [aws_lb.api.dns_name]
  endpoint           = "https://k8s.prod.example.com:6443"
  include_secrets    = true
  install_image      = "factory.talos.dev/aws-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.13.9"
  kubernetes_version = "1.36.3"
  role               = "worker"
  talos_version      = "v1.13.9"
  patches = [
    "machine:\n  nodeLabels:\n    pool: burst\n  nodeTaints:\n    burst: true:PreferNoSchedule\n",
  ]
}

data "talosmith_machine_config" "cp_config" {
  name               = "production"
  additional_sans    = [aws_lb.api.dns_name]
  endpoint           = "https://k8s.prod.example.com:6443"
  include_secrets    = true
  install_image      = "factory.talos.dev/aws-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.13.9"
  kubernetes_version = "1.36.3"
  role               = "controlplane"
  talos_version      = "v1.13.9"
}

data "talosmith_machine_config" "general_config" {
  name               = "production"
  additional_sans    = [aws_lb.api.dns_name]
  endpoint           = "https://k8s.prod.example.com:6443"
  include_secrets    = true
  install_image      = "factory.talos.dev/aws-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.13.9"
  kubernetes_version = "1.36.3"
  role               = "worker"
  talos_version      = "v1.13.9"
}

# Memberships: each ends, by leaving, before its machine does.
resource "talosmith_member" "cp_1" {
  name            = "production-cp-1"
  address         = aws_instance.cp_1.private_ip
  cluster         = "production"
  config_source   = "user-data"
  machine_id      = aws_instance.cp_1.id
  on_destroy      = "prevent"
  talos_endpoints = [aws_lb.api.dns_name]

  depends_on = [
    aws_instance.cp_1,
    aws_lb_target_group_attachment.cp_1_kubernetes_target,
    aws_lb_target_group_attachment.cp_1_talos_target,
    terraform_data.reachable,
  ]
}

resource "talosmith_member" "cp_2" {
  name            = "production-cp-2"
  address         = aws_instance.cp_2.private_ip
  cluster         = "production"
  config_source   = "user-data"
  machine_id      = aws_instance.cp_2.id
  on_destroy      = "prevent"
  talos_endpoints = [aws_lb.api.dns_name]

  depends_on = [
    aws_instance.cp_2,
    aws_lb_target_group_attachment.cp_2_kubernetes_target,
    aws_lb_target_group_attachment.cp_2_talos_target,
    terraform_data.reachable,
  ]
}

resource "talosmith_member" "cp_3" {
  name            = "production-cp-3"
  address         = aws_instance.cp_3.private_ip
  cluster         = "production"
  config_source   = "user-data"
  machine_id      = aws_instance.cp_3.id
  on_destroy      = "prevent"
  talos_endpoints = [aws_lb.api.dns_name]

  depends_on = [
    aws_instance.cp_3,
    aws_lb_target_group_attachment.cp_3_kubernetes_target,
    aws_lb_target_group_attachment.cp_3_talos_target,
    terraform_data.reachable,
  ]
}

resource "talosmith_member" "general_1" {
  name            = "production-general-1"
  address         = aws_instance.general_1.private_ip
  cluster         = "production"
  config_source   = "user-data"
  machine_id      = aws_instance.general_1.id
  on_destroy      = "prevent"
  talos_endpoints = [aws_lb.api.dns_name]

  depends_on = [aws_instance.general_1, terraform_data.reachable]
}

resource "talosmith_member" "general_2" {
  name            = "production-general-2"
  address         = aws_instance.general_2.private_ip
  cluster         = "production"
  config_source   = "user-data"
  machine_id      = aws_instance.general_2.id
  on_destroy      = "prevent"
  talos_endpoints = [aws_lb.api.dns_name]

  depends_on = [aws_instance.general_2, terraform_data.reachable]
}

resource "talosmith_member" "general_3" {
  name            = "production-general-3"
  address         = aws_instance.general_3.private_ip
  cluster         = "production"
  config_source   = "user-data"
  machine_id      = aws_instance.general_3.id
  on_destroy      = "prevent"
  talos_endpoints = [aws_lb.api.dns_name]

  depends_on = [aws_instance.general_3, terraform_data.reachable]
}

# The cluster: configs, bring-up, upgrades and end of the machines that it lists.
resource "talosmith_cluster" "cluster" {
  name                = "production"
  additional_sans     = [aws_lb.api.dns_name]
  config_source       = "user-data"
  endpoint            = "https://k8s.prod.example.com:6443"
  infrastructure_kind = "aws"
  install_image       = "factory.talos.dev/aws-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.13.9"
  kubernetes_version  = "1.36.3"
  on_destroy          = "prevent"
  talos_endpoints     = [aws_lb.api.dns_name]
  talos_version       = "v1.13.9"
  machines = {
    "production-cp-1" = {
      address     = aws_instance.cp_1.private_ip
      hardware_id = terraform_data.cp_1_hardware.id
      member_id   = talosmith_member.cp_1.id
      role        = "controlplane"
    }
    "production-cp-2" = {
      address     = aws_instance.cp_2.private_ip
      hardware_id = terraform_data.cp_2_hardware.id
      member_id   = talosmith_member.cp_2.id
      role        = "controlplane"
    }
    "production-cp-3" = {
      address     = aws_instance.cp_3.private_ip
      hardware_id = terraform_data.cp_3_hardware.id
      member_id   = talosmith_member.cp_3.id
      role        = "controlplane"
    }
    "production-general-1" = {
      address   = aws_instance.general_1.private_ip
      member_id = talosmith_member.general_1.id
      role      = "worker"
    }
    "production-general-2" = {
      address   = aws_instance.general_2.private_ip
      member_id = talosmith_member.general_2.id
      role      = "worker"
    }
    "production-general-3" = {
      address   = aws_instance.general_3.private_ip
      member_id = talosmith_member.general_3.id
      role      = "worker"
    }
  }
}

# Files that give access to the cluster.
resource "talosmith_client_files" "client" {
  cluster_name     = "production"
  endpoints        = [aws_lb.api.dns_name]
  keep_on_disk     = false
  kubeconfig_path  = "generated/production/kubeconfig"
  talosconfig_path = "generated/production/talosconfig"
  nodes = [
    aws_instance.cp_1.private_ip,
    aws_instance.cp_2.private_ip,
    aws_instance.cp_3.private_ip,
    aws_instance.general_1.private_ip,
    aws_instance.general_2.private_ip,
    aws_instance.general_3.private_ip,
  ]

  depends_on = [talosmith_cluster.cluster]
}
