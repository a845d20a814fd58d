# Written by `talosmith synth staging --hcl` from environments/staging.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# Machines. A newer image or config reaches them over the Talos API.
resource "aws_instance" "control_plane" {
  for_each = local.control_plane

  ami                         = data.aws_ami.image.id
  associate_public_ip_address = false
  ebs_optimized               = true
  iam_instance_profile        = aws_iam_instance_profile.control_plane_profile.name
  instance_type               = "t3.large"
  monitoring                  = true
  subnet_id                   = each.value.subnet_id
  tags                        = { Name = "staging-${each.key}", "kubernetes.io/cluster/staging" = "owned" }
  user_data_base64            = base64gzip(data.talosmith_machine_config.control_plane_config.config)
  vpc_security_group_ids      = [aws_security_group.allow_control_plane.id]

  # A newer image or config reaches a running machine over the Talos API, never by a new machine. A machine stays in its zone.
  lifecycle {
    postcondition {
      condition     = contains([aws_subnet.private_1.id, aws_subnet.private_2.id, aws_subnet.private_3.id], self.subnet_id)
      error_message = "The machine ${each.key} is in ${self.availability_zone}, which is no zone of its pool any more. Add the zone again, or replace the machine: talosmith deploy does it, or terraform apply with -replace and its address."
    }

    precondition {
      condition     = (length(base64gzip(data.talosmith_machine_config.control_plane_config.config)) <= 21848)
      error_message = "The machine config is over 16 KiB when packed, more than EC2 takes as user-data. Move patches out of it: they can be applied over the API."
    }

    ignore_changes = [
      ami,
      associate_public_ip_address,
      root_block_device[0].kms_key_id,
      subnet_id,
      user_data_base64,
    ]
  }

  metadata_options {
    http_endpoint               = "enabled"
    http_put_response_hop_limit = 2
    http_tokens                 = "required"
    instance_metadata_tags      = "disabled"
  }

  root_block_device {
    delete_on_termination = true
    encrypted             = true
    volume_size           = 20
    volume_type           = "gp3"
  }

  depends_on = [terraform_data.control_plane_hardware]
}

resource "aws_instance" "worker" {
  for_each = local.worker

  ami                         = data.aws_ami.image.id
  associate_public_ip_address = false
  ebs_optimized               = true
  iam_instance_profile        = aws_iam_instance_profile.worker_profile.name
  instance_type               = "t3.large"
  monitoring                  = true
  subnet_id                   = each.value.subnet_id
  tags                        = { Name = "staging-${each.key}", "kubernetes.io/cluster/staging" = "owned" }
  user_data_base64            = base64gzip(data.talosmith_machine_config.worker_config.config)
  vpc_security_group_ids      = [aws_security_group.allow_worker.id]

  # A newer image or config reaches a running machine over the Talos API, never by a new machine. A machine stays in its zone.
  lifecycle {
    postcondition {
      condition     = contains([aws_subnet.private_3.id, aws_subnet.private_1.id, aws_subnet.private_2.id], self.subnet_id)
      error_message = "The machine ${each.key} is in ${self.availability_zone}, which is no zone of its pool any more. Add the zone again, or replace the machine: talosmith deploy does it, or terraform apply with -replace and its address."
    }

    precondition {
      condition     = (length(base64gzip(data.talosmith_machine_config.worker_config.config)) <= 21848)
      error_message = "The machine config is over 16 KiB when packed, more than EC2 takes as user-data. Move patches out of it: they can be applied over the API."
    }

    ignore_changes = [
      ami,
      associate_public_ip_address,
      root_block_device[0].kms_key_id,
      subnet_id,
      user_data_base64,
    ]
  }

  metadata_options {
    http_endpoint               = "enabled"
    http_put_response_hop_limit = 1
    http_tokens                 = "required"
    instance_metadata_tags      = "disabled"
  }

  root_block_device {
    delete_on_termination = true
    encrypted             = true
    volume_size           = 20
    volume_type           = "gp3"
  }

  depends_on = [terraform_data.worker_hardware]
}

# What changes with the hardware of a machine. For more machines at once than rollout allows, the cluster refuses it.
resource "terraform_data" "control_plane_hardware" {
  for_each = local.control_plane

  triggers_replace = "t3.large"
}

resource "terraform_data" "worker_hardware" {
  for_each = local.worker

  triggers_replace = "t3.large"
}

resource "talosmith_addon" "addon_aws_cloud_controller_manager" {
  name       = "aws-cloud-controller-manager"
  chart      = "aws-cloud-controller-manager"
  endpoints  = [aws_lb.api.dns_name]
  namespace  = "kube-system"
  repository = "https://kubernetes.github.io/cloud-provider-aws"
  version    = "0.0.11"
  values = [
    "args:\n  - --v=2\n  - --cloud-provider=aws\n  - --cluster-name=staging\n  - --configure-cloud-routes=false\nhostNetworking: true\nimage:\n  tag: v1.36.1\n",
  ]

  depends_on = [talosmith_cluster.cluster]
}

resource "talosmith_addon" "addon_aws_ebs_csi_driver" {
  name       = "aws-ebs-csi-driver"
  chart      = "aws-ebs-csi-driver"
  endpoints  = [aws_lb.api.dns_name]
  namespace  = "kube-system"
  repository = "https://kubernetes-sigs.github.io/aws-ebs-csi-driver"
  version    = "2.64.0"
  values = [
    "controller:\n  k8sTagClusterId: staging\n  nodeSelector:\n    node-role.kubernetes.io/control-plane: \"\"\n  region: eu-central-1\n  replicaCount: 2\n  tolerations:\n    - effect: NoSchedule\n      key: node-role.kubernetes.io/control-plane\n      operator: Exists\n    - effect: NoExecute\n      operator: Exists\n      tolerationSeconds: 300\nhelmTester:\n  enabled: false\nnode:\n  enableWindows: false\n  hostNetwork: true\nstorageClasses:\n  - allowVolumeExpansion: true\n    annotations:\n      storageclass.kubernetes.io/is-default-class: \"true\"\n    name: gp3\n    parameters:\n      encrypted: \"true\"\n      type: gp3\n    volumeBindingMode: WaitForFirstConsumer\n",
  ]

  depends_on = [talosmith_cluster.cluster, talosmith_addon.addon_aws_cloud_controller_manager]
}

resource "talosmith_etcd_snapshot" "backup" {
  cluster_name = "staging"
  endpoints    = [aws_lb.api.dns_name]
  triggers     = { kubernetes = "1.36.3", talos = "v1.13.9" }
  s3 = {
    bucket = aws_s3_bucket_server_side_encryption_configuration.backups_encryption.bucket
    prefix = "staging"
    region = "eu-central-1"
  }

  depends_on = [talosmith_cluster.cluster]
}
