# Written by `talosmith synth sandbox --hcl` from environments/sandbox.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# Machines. A newer image or config reaches them over the Talos API.
resource "aws_instance" "control_plane" {
  for_each = local.control_plane

  ami                         = data.aws_ami.image.id
  associate_public_ip_address = true
  ebs_optimized               = true
  iam_instance_profile        = aws_iam_instance_profile.control_plane_profile.name
  instance_type               = "t3.medium"
  monitoring                  = false
  subnet_id                   = each.value.subnet_id
  tags                        = { Name = "sandbox-${each.key}", "kubernetes.io/cluster/sandbox" = "owned" }
  vpc_security_group_ids      = [aws_security_group.allow_control_plane.id]

  # A newer image or config reaches a running machine over the Talos API, never by a new machine. A machine stays in its zone.
  lifecycle {
    postcondition {
      condition     = contains([aws_subnet.public_1.id, aws_subnet.public_2.id], self.subnet_id)
      error_message = "The machine ${each.key} is in ${self.availability_zone}, which is no zone of its pool any more. Add the zone again, or replace the machine: talosmith deploy does it, or terraform apply with -replace and its address."
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

  depends_on = [terraform_data.control_plane_hardware]
}

resource "aws_instance" "worker" {
  for_each = local.worker

  ami                         = data.aws_ami.image.id
  associate_public_ip_address = true
  ebs_optimized               = true
  iam_instance_profile        = aws_iam_instance_profile.worker_profile.name
  instance_type               = "t3.medium"
  monitoring                  = false
  subnet_id                   = each.value.subnet_id
  tags                        = { Name = "sandbox-${each.key}", "kubernetes.io/cluster/sandbox" = "owned" }
  vpc_security_group_ids      = [aws_security_group.allow_worker.id]

  # A newer image or config reaches a running machine over the Talos API, never by a new machine. A machine stays in its zone.
  lifecycle {
    postcondition {
      condition     = contains([aws_subnet.public_1.id, aws_subnet.public_2.id], self.subnet_id)
      error_message = "The machine ${each.key} is in ${self.availability_zone}, which is no zone of its pool any more. Add the zone again, or replace the machine: talosmith deploy does it, or terraform apply with -replace and its address."
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

  triggers_replace = "t3.medium"
}

resource "terraform_data" "worker_hardware" {
  for_each = local.worker

  triggers_replace = "t3.medium"
}
