# Written by `talosmith synth production --hcl` from environments/production.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# First configs, for user-data. They hold secrets, and so does the state then.
data "talosmith_machine_config" "burst_config" {
  name                    = "production"
  additional_sans         = [aws_lb.api.dns_name]
  config_contract         = "v1.13"
  endpoint                = "https://k8s.prod.example.com:6443"
  external_cloud_provider = true
  include_secrets         = true
  install_image           = "factory.talos.dev/aws-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.13.9"
  kubernetes_version      = "1.36.3"
  role                    = "worker"
  talos_version           = "v1.13.9"
  patches = [
    "machine:\n  nodeLabels:\n    talosmith.internal/pool: burst\n",
    "machine:\n  nodeLabels:\n    pool: burst\n  nodeTaints:\n    burst: true:PreferNoSchedule\n",
  ]
}

data "talosmith_machine_config" "control_plane_config" {
  name                    = "production"
  additional_sans         = [aws_lb.api.dns_name]
  config_contract         = "v1.13"
  endpoint                = "https://k8s.prod.example.com:6443"
  external_cloud_provider = true
  include_secrets         = true
  install_image           = "factory.talos.dev/aws-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.13.9"
  kubernetes_version      = "1.36.3"
  role                    = "controlplane"
  talos_version           = "v1.13.9"
}

data "talosmith_machine_config" "general_config" {
  name                    = "production"
  additional_sans         = [aws_lb.api.dns_name]
  config_contract         = "v1.13"
  endpoint                = "https://k8s.prod.example.com:6443"
  external_cloud_provider = true
  include_secrets         = true
  install_image           = "factory.talos.dev/aws-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.13.9"
  kubernetes_version      = "1.36.3"
  role                    = "worker"
  talos_version           = "v1.13.9"
}

# Memberships: each ends, by leaving, before its machine does.
resource "talosmith_member" "control_plane" {
  for_each = local.control_plane

  name            = "production-${each.key}"
  address         = aws_instance.control_plane[each.key].private_ip
  cluster         = "production"
  config_source   = "user-data"
  machine_id      = aws_instance.control_plane[each.key].id
  on_destroy      = "prevent"
  talos_endpoints = [aws_lb.api.dns_name]

  depends_on = [
    aws_instance.control_plane,
    aws_lb_target_group_attachment.control_plane_kubernetes_target,
    aws_lb_target_group_attachment.control_plane_talos_target,
    terraform_data.reachable,
  ]
}

resource "talosmith_member" "general" {
  for_each = local.general

  name            = "production-${each.key}"
  address         = aws_instance.general[each.key].private_ip
  cluster         = "production"
  config_source   = "user-data"
  machine_id      = aws_instance.general[each.key].id
  on_destroy      = "prevent"
  talos_endpoints = [aws_lb.api.dns_name]

  depends_on = [aws_instance.general, terraform_data.reachable]
}

# The cluster: configs, bring-up, upgrades and end of the machines that it lists.
resource "talosmith_cluster" "cluster" {
  name                    = "production"
  additional_sans         = [aws_lb.api.dns_name]
  config_contract         = "v1.13"
  config_source           = "user-data"
  endpoint                = "https://k8s.prod.example.com:6443"
  external_cloud_provider = true
  infrastructure_kind     = "aws"
  install_image           = "factory.talos.dev/aws-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.13.9"
  kubernetes_version      = "1.36.3"
  on_destroy              = "prevent"
  talos_endpoints         = [aws_lb.api.dns_name]
  talos_version           = "v1.13.9"
  machines = merge(
    { for key, machine in local.control_plane : "production-${key}" => {
      role        = "controlplane"
      address     = aws_instance.control_plane[key].private_ip
      member_id   = talosmith_member.control_plane[key].id
      hardware_id = terraform_data.control_plane_hardware[key].id
      disk_size   = 53687091200
      provider_id = "aws:///${aws_instance.control_plane[key].availability_zone}/${aws_instance.control_plane[key].id}"
    } },
    { for key, machine in local.general : "production-${key}" => {
      role        = "worker"
      address     = aws_instance.general[key].private_ip
      member_id   = talosmith_member.general[key].id
      hardware_id = terraform_data.general_hardware[key].id
      disk_size   = 107374182400
      provider_id = "aws:///${aws_instance.general[key].availability_zone}/${aws_instance.general[key].id}"
    } },
  )
  scaling_pools = {
    burst = {
      patches = [
        "machine:\n  nodeLabels:\n    talosmith.internal/pool: burst\n",
        "machine:\n  nodeLabels:\n    pool: burst\n  nodeTaints:\n    burst: true:PreferNoSchedule\n",
      ]
    }
  }

  depends_on = [aws_launch_template.burst_template, aws_autoscaling_group.burst]
}

# Files that give access to the cluster.
resource "talosmith_client_files" "client" {
  cluster_name     = "production"
  endpoints        = [aws_lb.api.dns_name]
  keep_on_disk     = false
  kubeconfig_path  = "generated/production/kubeconfig"
  talosconfig_path = "generated/production/talosconfig"
  nodes = slice(
    [for key, machine in local.control_plane : aws_instance.control_plane[key].private_ip],
    0,
    1,
  )

  depends_on = [talosmith_cluster.cluster]
}
