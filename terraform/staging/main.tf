# Written by `talosmith synth staging --hcl` from environments/staging.yaml; change that file, not this one.

# Machines. A newer image or config reaches them over the Talos API.
resource "aws_instance" "cp_1" {
  ami                         = data.aws_ami.image.id
  associate_public_ip_address = false
  ebs_optimized               = true
  iam_instance_profile        = aws_iam_instance_profile.control_plane_profile.name
  instance_type               = "t3.large"
  monitoring                  = true
  subnet_id                   = aws_subnet.private_1.id
  tags                        = { Name = "staging-cp-1", "kubernetes.io/cluster/staging" = "owned" }
  user_data_base64            = base64gzip(data.talosmith_machine_config.cp_config.config)
  vpc_security_group_ids      = [aws_security_group.allow_control_plane.id]

  lifecycle {
    precondition {
      condition     = (length(base64gzip(data.talosmith_machine_config.cp_config.config)) <= 21848)
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

  depends_on = [terraform_data.cp_1_hardware]
}

resource "aws_instance" "cp_2" {
  ami                         = data.aws_ami.image.id
  associate_public_ip_address = false
  ebs_optimized               = true
  iam_instance_profile        = aws_iam_instance_profile.control_plane_profile.name
  instance_type               = "t3.large"
  monitoring                  = true
  subnet_id                   = aws_subnet.private_2.id
  tags                        = { Name = "staging-cp-2", "kubernetes.io/cluster/staging" = "owned" }
  user_data_base64            = base64gzip(data.talosmith_machine_config.cp_config.config)
  vpc_security_group_ids      = [aws_security_group.allow_control_plane.id]

  lifecycle {
    precondition {
      condition     = (length(base64gzip(data.talosmith_machine_config.cp_config.config)) <= 21848)
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

  depends_on = [terraform_data.cp_2_hardware]
}

resource "aws_instance" "cp_3" {
  ami                         = data.aws_ami.image.id
  associate_public_ip_address = false
  ebs_optimized               = true
  iam_instance_profile        = aws_iam_instance_profile.control_plane_profile.name
  instance_type               = "t3.large"
  monitoring                  = true
  subnet_id                   = aws_subnet.private_3.id
  tags                        = { Name = "staging-cp-3", "kubernetes.io/cluster/staging" = "owned" }
  user_data_base64            = base64gzip(data.talosmith_machine_config.cp_config.config)
  vpc_security_group_ids      = [aws_security_group.allow_control_plane.id]

  lifecycle {
    precondition {
      condition     = (length(base64gzip(data.talosmith_machine_config.cp_config.config)) <= 21848)
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

  depends_on = [terraform_data.cp_3_hardware]
}

resource "aws_instance" "w_1" {
  ami                         = data.aws_ami.image.id
  associate_public_ip_address = false
  ebs_optimized               = true
  iam_instance_profile        = aws_iam_instance_profile.worker_profile.name
  instance_type               = "t3.large"
  monitoring                  = true
  subnet_id                   = aws_subnet.private_1.id
  tags                        = { Name = "staging-w-1", "kubernetes.io/cluster/staging" = "owned" }
  user_data_base64            = base64gzip(data.talosmith_machine_config.w_config.config)
  vpc_security_group_ids      = [aws_security_group.allow_worker.id]

  lifecycle {
    precondition {
      condition     = (length(base64gzip(data.talosmith_machine_config.w_config.config)) <= 21848)
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

resource "aws_instance" "w_2" {
  ami                         = data.aws_ami.image.id
  associate_public_ip_address = false
  ebs_optimized               = true
  iam_instance_profile        = aws_iam_instance_profile.worker_profile.name
  instance_type               = "t3.large"
  monitoring                  = true
  subnet_id                   = aws_subnet.private_2.id
  tags                        = { Name = "staging-w-2", "kubernetes.io/cluster/staging" = "owned" }
  user_data_base64            = base64gzip(data.talosmith_machine_config.w_config.config)
  vpc_security_group_ids      = [aws_security_group.allow_worker.id]

  lifecycle {
    precondition {
      condition     = (length(base64gzip(data.talosmith_machine_config.w_config.config)) <= 21848)
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

# A change here replaces what is triggered by it.
resource "terraform_data" "cp_1_hardware" {
  triggers_replace = "t3.large"
}

resource "terraform_data" "cp_2_hardware" {
  triggers_replace = "t3.large"
}

resource "terraform_data" "cp_3_hardware" {
  triggers_replace = "t3.large"
}
