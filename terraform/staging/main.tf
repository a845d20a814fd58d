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

  # A newer image or config reaches a running machine over the Talos API, never by a new machine.
  lifecycle {
    precondition {
      condition     = (length(base64gzip(data.talosmith_machine_config.control_plane_config.config)) <= 21848)
      error_message = "The machine config is over 16 KiB when packed, more than EC2 takes as user-data. Move patches out of it: they can be applied over the API."
    }

    ignore_changes = [ami, user_data_base64]
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

  # A newer image or config reaches a running machine over the Talos API, never by a new machine.
  lifecycle {
    precondition {
      condition     = (length(base64gzip(data.talosmith_machine_config.worker_config.config)) <= 21848)
      error_message = "The machine config is over 16 KiB when packed, more than EC2 takes as user-data. Move patches out of it: they can be applied over the API."
    }

    ignore_changes = [ami, user_data_base64]
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
}

# What changes with the hardware of a machine. Of several control planes at once, the cluster refuses it.
resource "terraform_data" "control_plane_hardware" {
  for_each = local.control_plane

  triggers_replace = "t3.large"
}
