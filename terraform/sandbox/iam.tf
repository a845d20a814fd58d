# Written by `talosmith synth sandbox --hcl` from environments/sandbox.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

resource "aws_iam_role" "control_plane" {
  name = "sandbox-control-plane"
  tags = { Name = "sandbox-control-plane" }
  assume_role_policy = jsonencode({
    Statement = [
      {
        Action    = "sts:AssumeRole"
        Effect    = "Allow"
        Principal = { Service = "ec2.amazonaws.com" }
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_iam_role" "worker" {
  name = "sandbox-worker"
  tags = { Name = "sandbox-worker" }
  assume_role_policy = jsonencode({
    Statement = [
      {
        Action    = "sts:AssumeRole"
        Effect    = "Allow"
        Principal = { Service = "ec2.amazonaws.com" }
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_iam_instance_profile" "control_plane_profile" {
  name = "sandbox-control-plane"
  role = aws_iam_role.control_plane.name
  tags = { Name = "sandbox-control-plane" }
}

resource "aws_iam_instance_profile" "worker_profile" {
  name = "sandbox-worker"
  role = aws_iam_role.worker.name
  tags = { Name = "sandbox-worker" }
}
