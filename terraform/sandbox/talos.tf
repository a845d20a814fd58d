# Written by `talosmith synth sandbox --hcl` from environments/sandbox.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# Memberships: each ends, by leaving, before its machine does.
resource "talosmith_member" "control_plane" {
  for_each = local.control_plane

  name       = "sandbox-${each.key}"
  address    = aws_eip.control_plane_address[each.key].public_ip
  cluster    = "sandbox"
  machine_id = aws_instance.control_plane[each.key].id

  depends_on = [
    aws_instance.control_plane,
    aws_eip.control_plane_address,
    aws_lb_target_group_attachment.control_plane_kubernetes_target,
    aws_vpc_security_group_ingress_rule.control_plane_kubernetes,
    terraform_data.reachable,
  ]
}

resource "talosmith_member" "worker" {
  for_each = local.worker

  name       = "sandbox-${each.key}"
  address    = aws_instance.worker[each.key].public_ip
  cluster    = "sandbox"
  machine_id = aws_instance.worker[each.key].id

  depends_on = [
    aws_instance.worker,
    aws_vpc_security_group_ingress_rule.worker_kubernetes,
    terraform_data.reachable,
  ]
}

# The cluster: configs, bring-up, upgrades and end of the machines that it lists.
resource "talosmith_cluster" "cluster" {
  name                = "sandbox"
  config_contract     = "v1.13"
  endpoint            = "https://k8s.sandbox.example.com:6443"
  infrastructure_kind = "aws"
  install_image       = "factory.talos.dev/aws-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.13.9"
  kubernetes_version  = "1.36.3"
  talos_version       = "v1.13.9"
  trust_on_first_use  = true
  machines = merge(
    { for key, machine in local.control_plane : "sandbox-${key}" => {
      role        = "controlplane"
      address     = aws_eip.control_plane_address[key].public_ip
      member_id   = talosmith_member.control_plane[key].id
      hardware_id = terraform_data.control_plane_hardware[key].id
      disk_size   = 21474836480
    } },
    { for key, machine in local.worker : "sandbox-${key}" => {
      role        = "worker"
      address     = aws_instance.worker[key].public_ip
      member_id   = talosmith_member.worker[key].id
      hardware_id = terraform_data.worker_hardware[key].id
      disk_size   = 21474836480
    } },
  )
}

# Files that give access to the cluster.
resource "talosmith_client_files" "client" {
  cluster_name     = "sandbox"
  endpoints        = [for key, machine in local.control_plane : aws_eip.control_plane_address[key].public_ip]
  keep_on_disk     = false
  kubeconfig_path  = "generated/sandbox/kubeconfig"
  talosconfig_path = "generated/sandbox/talosconfig"

  depends_on = [talosmith_cluster.cluster]
}
