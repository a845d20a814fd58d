# Written by `talosmith synth production --hcl` from environments/production.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# Machines. A newer image or config reaches them over the Talos API.
resource "aws_instance" "control_plane" {
  for_each = local.control_plane

  ami                         = data.aws_ami.image.id
  associate_public_ip_address = false
  disable_api_termination     = true
  ebs_optimized               = true
  iam_instance_profile        = aws_iam_instance_profile.control_plane_profile.name
  instance_type               = "m7i.large"
  monitoring                  = true
  subnet_id                   = each.value.subnet_id
  tags                        = { Name = "production-${each.key}", "kubernetes.io/cluster/production" = "owned" }
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
    volume_size           = 50
    volume_type           = "gp3"
  }

  depends_on = [terraform_data.control_plane_hardware]
}

resource "aws_instance" "general" {
  for_each = local.general

  ami                         = data.aws_ami.image.id
  associate_public_ip_address = false
  ebs_optimized               = true
  iam_instance_profile        = aws_iam_instance_profile.worker_profile.name
  instance_type               = "m7i.xlarge"
  monitoring                  = true
  subnet_id                   = each.value.subnet_id
  tags                        = { Name = "production-${each.key}", "kubernetes.io/cluster/production" = "owned" }
  user_data_base64            = base64gzip(data.talosmith_machine_config.general_config.config)
  vpc_security_group_ids      = [aws_security_group.allow_worker.id]

  # A newer image or config reaches a running machine over the Talos API, never by a new machine. A machine stays in its zone.
  lifecycle {
    postcondition {
      condition     = contains([aws_subnet.private_2.id, aws_subnet.private_3.id, aws_subnet.private_1.id], self.subnet_id)
      error_message = "The machine ${each.key} is in ${self.availability_zone}, which is no zone of its pool any more. Add the zone again, or replace the machine: talosmith deploy does it, or terraform apply with -replace and its address."
    }

    precondition {
      condition     = (length(base64gzip(data.talosmith_machine_config.general_config.config)) <= 21848)
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
    volume_size           = 100
    volume_type           = "gp3"
  }

  depends_on = [terraform_data.general_hardware]
}

resource "aws_launch_template" "burst_template" {
  name                   = "production-burst"
  ebs_optimized          = "true"
  image_id               = data.aws_ami.image.id
  instance_type          = "m7i.xlarge"
  update_default_version = true
  user_data              = base64gzip(data.talosmith_machine_config.burst_config.config)
  vpc_security_group_ids = [aws_security_group.allow_worker.id]
  tags = {
    Name                               = "production-burst"
    "kubernetes.io/cluster/production" = "owned"
    "managed-by"                       = "talosmith"
  }

  block_device_mappings {
    device_name = "/dev/xvda"

    ebs {
      delete_on_termination = "true"
      encrypted             = "true"
      volume_size           = 100
      volume_type           = "gp3"
    }
  }

  iam_instance_profile {
    arn = aws_iam_instance_profile.worker_profile.arn
  }

  # EC2 takes 16 KiB of user-data.
  lifecycle {
    precondition {
      condition     = (length(base64gzip(data.talosmith_machine_config.burst_config.config)) <= 21848)
      error_message = "The machine config is over 16 KiB when packed, more than EC2 takes as user-data. Move patches out of it: they can be applied over the API."
    }
  }

  metadata_options {
    http_endpoint               = "enabled"
    http_put_response_hop_limit = 1
    http_tokens                 = "required"
    instance_metadata_tags      = "disabled"
  }

  monitoring {
    enabled = true
  }

  private_dns_name_options {
    enable_resource_name_dns_a_record = true
    hostname_type                     = "resource-name"
  }

  tag_specifications {
    resource_type = "instance"
    tags = {
      Name                               = "production-burst"
      "kubernetes.io/cluster/production" = "owned"
      "managed-by"                       = "talosmith"
    }
  }

  tag_specifications {
    resource_type = "volume"
    tags = {
      Name                               = "production-burst"
      "kubernetes.io/cluster/production" = "owned"
      "managed-by"                       = "talosmith"
    }
  }
}

# Workers that come and go by themselves.
resource "aws_autoscaling_group" "burst" {
  name                      = "production-burst"
  desired_capacity          = 1
  health_check_type         = "EC2"
  max_size                  = 10
  min_size                  = 0
  suspended_processes       = ["AZRebalance"]
  vpc_zone_identifier       = [aws_subnet.private_1.id, aws_subnet.private_2.id, aws_subnet.private_3.id]
  wait_for_capacity_timeout = "0"

  launch_template {
    id      = aws_launch_template.burst_template.id
    version = aws_launch_template.burst_template.latest_version
  }

  # The autoscaler decides from here on.
  lifecycle {
    ignore_changes = [desired_capacity]
  }

  tag {
    key                 = "managed-by"
    propagate_at_launch = true
    value               = "talosmith"
  }

  tag {
    key                 = "Name"
    propagate_at_launch = true
    value               = "production-burst"
  }

  tag {
    key                 = "kubernetes.io/cluster/production"
    propagate_at_launch = true
    value               = "owned"
  }

  tag {
    key                 = "k8s.io/cluster-autoscaler/enabled"
    propagate_at_launch = false
    value               = "true"
  }

  tag {
    key                 = "k8s.io/cluster-autoscaler/production"
    propagate_at_launch = false
    value               = "owned"
  }

  tag {
    key                 = "k8s.io/cluster-autoscaler/node-template/label/pool"
    propagate_at_launch = false
    value               = "burst"
  }

  tag {
    key                 = "k8s.io/cluster-autoscaler/node-template/label/talosmith.internal/pool"
    propagate_at_launch = false
    value               = "burst"
  }

  tag {
    key                 = "k8s.io/cluster-autoscaler/node-template/taint/burst"
    propagate_at_launch = false
    value               = "true:PreferNoSchedule"
  }
}

# What changes with the hardware of a machine. For more machines at once than rollout allows, the cluster refuses it.
resource "terraform_data" "control_plane_hardware" {
  for_each = local.control_plane

  triggers_replace = "m7i.large"
}

resource "terraform_data" "general_hardware" {
  for_each = local.general

  triggers_replace = "m7i.xlarge"
}

resource "talosmith_addon" "addon_aws_cloud_controller_manager" {
  name       = "aws-cloud-controller-manager"
  chart      = "aws-cloud-controller-manager"
  endpoints  = [aws_lb.api.dns_name]
  namespace  = "kube-system"
  repository = "https://kubernetes.github.io/cloud-provider-aws"
  version    = "0.0.11"
  values = [
    "args:\n  - --v=2\n  - --cloud-provider=aws\n  - --cluster-name=production\n  - --configure-cloud-routes=false\nhostNetworking: true\nimage:\n  tag: v1.36.1\n",
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
    "controller:\n  k8sTagClusterId: production\n  nodeSelector:\n    node-role.kubernetes.io/control-plane: \"\"\n  region: eu-central-1\n  replicaCount: 2\n  tolerations:\n    - effect: NoSchedule\n      key: node-role.kubernetes.io/control-plane\n      operator: Exists\n    - effect: NoExecute\n      operator: Exists\n      tolerationSeconds: 300\nhelmTester:\n  enabled: false\nnode:\n  enableWindows: false\n  hostNetwork: true\nstorageClasses:\n  - allowVolumeExpansion: true\n    annotations:\n      storageclass.kubernetes.io/is-default-class: \"true\"\n    name: gp3\n    parameters:\n      encrypted: \"true\"\n      type: gp3\n    volumeBindingMode: WaitForFirstConsumer\n",
  ]

  depends_on = [talosmith_cluster.cluster, talosmith_addon.addon_aws_cloud_controller_manager]
}

resource "talosmith_addon" "addon_cluster_autoscaler" {
  name       = "cluster-autoscaler"
  chart      = "cluster-autoscaler"
  endpoints  = [aws_lb.api.dns_name]
  namespace  = "kube-system"
  repository = "https://kubernetes.github.io/autoscaler"
  version    = "9.59.0"
  values = [
    "autoDiscovery:\n  clusterName: production\nawsRegion: eu-central-1\ncloudProvider: aws\ndnsPolicy: Default\nhostNetwork: true\nimage:\n  tag: v1.36.1\nnodeSelector:\n  node-role.kubernetes.io/control-plane: \"\"\ntolerations:\n  - effect: NoSchedule\n    key: node-role.kubernetes.io/control-plane\n    operator: Exists\n  - effect: NoExecute\n    operator: Exists\n    tolerationSeconds: 300\n",
  ]

  depends_on = [talosmith_cluster.cluster, talosmith_addon.addon_aws_cloud_controller_manager]
}

resource "talosmith_etcd_snapshot" "backup" {
  cluster_name = "production"
  endpoints    = [aws_lb.api.dns_name]
  triggers     = { kubernetes = "1.36.3", talos = "v1.13.9" }
  s3 = {
    bucket = aws_s3_bucket_server_side_encryption_configuration.backups_encryption.bucket
    prefix = "production"
    region = "eu-central-1"
  }

  depends_on = [talosmith_cluster.cluster]
}
