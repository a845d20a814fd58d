# Written by `talosmith synth production --hcl` from environments/production.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

data "aws_caller_identity" "account" {}

data "aws_partition" "partition" {}

resource "aws_iam_role" "control_plane" {
  name = "production-control-plane"
  tags = { Name = "production-control-plane" }
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

resource "aws_iam_role" "flow_logs_role" {
  name = "production-flow-logs"
  tags = { Name = "production-flow-logs" }
  assume_role_policy = jsonencode({
    Statement = [
      {
        Action    = "sts:AssumeRole"
        Effect    = "Allow"
        Principal = { Service = "vpc-flow-logs.amazonaws.com" }
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_iam_role" "worker" {
  name = "production-worker"
  tags = { Name = "production-worker" }
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

resource "aws_iam_role_policy" "control_plane_backups" {
  name = "backups"
  role = aws_iam_role.control_plane.id
  policy = jsonencode({
    Statement = [
      {
        Action   = ["s3:ListBucket", "s3:ListBucketMultipartUploads"]
        Effect   = "Allow"
        Resource = aws_s3_bucket.backups.arn
        Sid      = "List"
      },
      {
        Action   = ["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"]
        Effect   = "Allow"
        Resource = "${aws_s3_bucket.backups.arn}/*"
        Sid      = "ReadAndWrite"
      },
      {
        Action   = "s3:DeleteObject"
        Effect   = "Allow"
        Resource = "${aws_s3_bucket.backups.arn}/*"
        Sid      = "Prune"
      },
      {
        Action   = ["kms:Decrypt", "kms:GenerateDataKey"]
        Effect   = "Allow"
        Resource = aws_kms_key.key.arn
        Sid      = "Encrypt"
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_iam_role_policy" "control_plane_cloud_controller" {
  name = "cloud-controller"
  role = aws_iam_role.control_plane.id
  policy = jsonencode({
    Statement = [
      {
        Action = [
          "autoscaling:DescribeAutoScalingGroups",
          "autoscaling:DescribeTags",
          "ec2:DescribeAvailabilityZones",
          "ec2:DescribeInstanceTopology",
          "ec2:DescribeInstances",
          "ec2:DescribeRegions",
          "ec2:DescribeRouteTables",
          "ec2:DescribeSecurityGroups",
          "ec2:DescribeSubnets",
          "ec2:DescribeVpcs",
          "elasticloadbalancing:DescribeListeners",
          "elasticloadbalancing:DescribeLoadBalancerAttributes",
          "elasticloadbalancing:DescribeLoadBalancerPolicies",
          "elasticloadbalancing:DescribeLoadBalancers",
          "elasticloadbalancing:DescribeTargetGroupAttributes",
          "elasticloadbalancing:DescribeTargetGroups",
          "elasticloadbalancing:DescribeTargetHealth",
        ]
        Effect   = "Allow"
        Resource = "*"
        Sid      = "See"
      },
      {
        Action    = ["elasticloadbalancing:CreateLoadBalancer", "elasticloadbalancing:CreateTargetGroup"]
        Condition = { StringEquals = { "aws:RequestTag/kubernetes.io/cluster/production" = "owned" } }
        Effect    = "Allow"
        Resource = [
          "arn:${data.aws_partition.partition.partition}:elasticloadbalancing:eu-central-1:${data.aws_caller_identity.account.account_id}:loadbalancer/*",
          "arn:${data.aws_partition.partition.partition}:elasticloadbalancing:eu-central-1:${data.aws_caller_identity.account.account_id}:targetgroup/*",
        ]
        Sid = "MakeLoadBalancers"
      },
      {
        Action = "elasticloadbalancing:AddTags"
        Condition = {
          StringEquals = {
            "elasticloadbalancing:CreateAction" = ["CreateListener", "CreateLoadBalancer", "CreateTargetGroup"]
          }
        }
        Effect = "Allow"
        Resource = [
          "arn:${data.aws_partition.partition.partition}:elasticloadbalancing:eu-central-1:${data.aws_caller_identity.account.account_id}:loadbalancer/*",
          "arn:${data.aws_partition.partition.partition}:elasticloadbalancing:eu-central-1:${data.aws_caller_identity.account.account_id}:targetgroup/*",
          "arn:${data.aws_partition.partition.partition}:elasticloadbalancing:eu-central-1:${data.aws_caller_identity.account.account_id}:listener/*",
        ]
        Sid = "TagNewLoadBalancers"
      },
      {
        Action = [
          "elasticloadbalancing:AddTags",
          "elasticloadbalancing:ApplySecurityGroupsToLoadBalancer",
          "elasticloadbalancing:AttachLoadBalancerToSubnets",
          "elasticloadbalancing:ConfigureHealthCheck",
          "elasticloadbalancing:CreateListener",
          "elasticloadbalancing:CreateLoadBalancerListeners",
          "elasticloadbalancing:CreateLoadBalancerPolicy",
          "elasticloadbalancing:DeleteListener",
          "elasticloadbalancing:DeleteLoadBalancer",
          "elasticloadbalancing:DeleteLoadBalancerListeners",
          "elasticloadbalancing:DeleteTargetGroup",
          "elasticloadbalancing:DeregisterInstancesFromLoadBalancer",
          "elasticloadbalancing:DeregisterTargets",
          "elasticloadbalancing:DetachLoadBalancerFromSubnets",
          "elasticloadbalancing:ModifyListener",
          "elasticloadbalancing:ModifyLoadBalancerAttributes",
          "elasticloadbalancing:ModifyTargetGroup",
          "elasticloadbalancing:ModifyTargetGroupAttributes",
          "elasticloadbalancing:RegisterInstancesWithLoadBalancer",
          "elasticloadbalancing:RegisterTargets",
          "elasticloadbalancing:SetLoadBalancerPoliciesForBackendServer",
          "elasticloadbalancing:SetLoadBalancerPoliciesOfListener",
          "elasticloadbalancing:SetSecurityGroups",
        ]
        Condition = { StringEquals = { "aws:ResourceTag/kubernetes.io/cluster/production" = "owned" } }
        Effect    = "Allow"
        Resource = [
          "arn:${data.aws_partition.partition.partition}:elasticloadbalancing:eu-central-1:${data.aws_caller_identity.account.account_id}:loadbalancer/*",
          "arn:${data.aws_partition.partition.partition}:elasticloadbalancing:eu-central-1:${data.aws_caller_identity.account.account_id}:targetgroup/*",
          "arn:${data.aws_partition.partition.partition}:elasticloadbalancing:eu-central-1:${data.aws_caller_identity.account.account_id}:listener/*",
        ]
        Sid = "ChangeOwnLoadBalancers"
      },
      {
        Action    = "ec2:CreateSecurityGroup"
        Condition = { StringEquals = { "aws:RequestTag/kubernetes.io/cluster/production" = "owned" } }
        Effect    = "Allow"
        Resource  = "arn:${data.aws_partition.partition.partition}:ec2:eu-central-1:${data.aws_caller_identity.account.account_id}:security-group/*"
        Sid       = "MakeSecurityGroups"
      },
      {
        Action   = "ec2:CreateSecurityGroup"
        Effect   = "Allow"
        Resource = "arn:${data.aws_partition.partition.partition}:ec2:eu-central-1:${data.aws_caller_identity.account.account_id}:vpc/${aws_vpc.vpc.id}"
        Sid      = "MakeSecurityGroupsHere"
      },
      {
        Action    = "ec2:CreateTags"
        Condition = { StringEquals = { "ec2:CreateAction" = "CreateSecurityGroup" } }
        Effect    = "Allow"
        Resource  = "arn:${data.aws_partition.partition.partition}:ec2:eu-central-1:${data.aws_caller_identity.account.account_id}:security-group/*"
        Sid       = "TagNewSecurityGroups"
      },
      {
        Action = [
          "ec2:AuthorizeSecurityGroupIngress",
          "ec2:DeleteSecurityGroup",
          "ec2:RevokeSecurityGroupIngress",
        ]
        Condition = { StringEquals = { "aws:ResourceTag/kubernetes.io/cluster/production" = "owned" } }
        Effect    = "Allow"
        Resource  = "arn:${data.aws_partition.partition.partition}:ec2:eu-central-1:${data.aws_caller_identity.account.account_id}:security-group/*"
        Sid       = "ChangeOwnSecurityGroups"
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_iam_role_policy" "control_plane_cluster_autoscaler" {
  name = "cluster-autoscaler"
  role = aws_iam_role.control_plane.id
  policy = jsonencode({
    Statement = [
      {
        Action = [
          "autoscaling:DescribeAutoScalingGroups",
          "autoscaling:DescribeAutoScalingInstances",
          "autoscaling:DescribeLaunchConfigurations",
          "autoscaling:DescribeScalingActivities",
          "autoscaling:DescribeTags",
          "ec2:DescribeImages",
          "ec2:DescribeInstanceTypes",
          "ec2:DescribeLaunchTemplateVersions",
          "ec2:GetInstanceTypesFromInstanceRequirements",
        ]
        Effect   = "Allow"
        Resource = "*"
        Sid      = "See"
      },
      {
        Action    = ["autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"]
        Condition = { StringEquals = { "aws:ResourceTag/k8s.io/cluster-autoscaler/production" = "owned" } }
        Effect    = "Allow"
        Resource  = "arn:${data.aws_partition.partition.partition}:autoscaling:eu-central-1:${data.aws_caller_identity.account.account_id}:autoScalingGroup:*:autoScalingGroupName/*"
        Sid       = "ResizeOwnGroups"
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_iam_role_policy" "control_plane_ebs_csi" {
  name = "ebs-csi"
  role = aws_iam_role.control_plane.id
  policy = jsonencode({
    Statement = [
      {
        Action = [
          "ec2:DescribeAvailabilityZones",
          "ec2:DescribeInstanceTypes",
          "ec2:DescribeInstances",
          "ec2:DescribeSnapshots",
          "ec2:DescribeTags",
          "ec2:DescribeVolumeStatus",
          "ec2:DescribeVolumes",
          "ec2:DescribeVolumesModifications",
        ]
        Effect   = "Allow"
        Resource = "*"
        Sid      = "See"
      },
      {
        Action    = ["ec2:CopyVolumes", "ec2:CreateVolume"]
        Condition = { StringEquals = { "aws:RequestTag/ebs.csi.aws.com/cluster" = "true" } }
        Effect    = "Allow"
        Resource  = "arn:${data.aws_partition.partition.partition}:ec2:eu-central-1:${data.aws_caller_identity.account.account_id}:volume/*"
        Sid       = "MakeVolumes"
      },
      {
        Action    = "ec2:CreateSnapshot"
        Condition = { StringEquals = { "aws:RequestTag/ebs.csi.aws.com/cluster" = "true" } }
        Effect    = "Allow"
        Resource  = "arn:${data.aws_partition.partition.partition}:ec2:eu-central-1:${data.aws_caller_identity.account.account_id}:snapshot/*"
        Sid       = "MakeSnapshots"
      },
      {
        Action = "ec2:CreateTags"
        Condition = {
          StringEquals = { "ec2:CreateAction" = ["CopyVolumes", "CreateSnapshot", "CreateVolume"] }
        }
        Effect = "Allow"
        Resource = [
          "arn:${data.aws_partition.partition.partition}:ec2:eu-central-1:${data.aws_caller_identity.account.account_id}:volume/*",
          "arn:${data.aws_partition.partition.partition}:ec2:eu-central-1:${data.aws_caller_identity.account.account_id}:snapshot/*",
        ]
        Sid = "TagNew"
      },
      {
        Action = [
          "ec2:AttachVolume",
          "ec2:CopyVolumes",
          "ec2:CreateSnapshot",
          "ec2:DeleteVolume",
          "ec2:DetachVolume",
          "ec2:ModifyVolume",
        ]
        Condition = { StringEquals = { "aws:ResourceTag/ebs.csi.aws.com/cluster" = "true" } }
        Effect    = "Allow"
        Resource  = "arn:${data.aws_partition.partition.partition}:ec2:eu-central-1:${data.aws_caller_identity.account.account_id}:volume/*"
        Sid       = "UseOwnVolumes"
      },
      {
        Action    = ["ec2:CreateVolume", "ec2:DeleteSnapshot"]
        Condition = { StringEquals = { "aws:ResourceTag/ebs.csi.aws.com/cluster" = "true" } }
        Effect    = "Allow"
        Resource  = "arn:${data.aws_partition.partition.partition}:ec2:eu-central-1:${data.aws_caller_identity.account.account_id}:snapshot/*"
        Sid       = "UseOwnSnapshots"
      },
      {
        Action    = ["ec2:AttachVolume", "ec2:DetachVolume"]
        Condition = { StringEquals = { "aws:ResourceTag/kubernetes.io/cluster/production" = "owned" } }
        Effect    = "Allow"
        Resource  = "arn:${data.aws_partition.partition.partition}:ec2:eu-central-1:${data.aws_caller_identity.account.account_id}:instance/*"
        Sid       = "AttachToOwnMachines"
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_iam_role_policy" "flow_logs_policy" {
  name = "write"
  role = aws_iam_role.flow_logs_role.id
  policy = jsonencode({
    Statement = [
      {
        Action   = ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]
        Effect   = "Allow"
        Resource = "${aws_cloudwatch_log_group.flow_logs_group.arn}:*"
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_iam_instance_profile" "control_plane_profile" {
  name = "production-control-plane"
  role = aws_iam_role.control_plane.name
  tags = { Name = "production-control-plane" }
}

resource "aws_iam_instance_profile" "worker_profile" {
  name = "production-worker"
  role = aws_iam_role.worker.name
  tags = { Name = "production-worker" }
}
