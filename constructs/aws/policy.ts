// SPDX-License-Identifier: Apache-2.0

export interface Statement {
  readonly Sid?: string;
  readonly Effect: "Allow" | "Deny";
  readonly Action: string | readonly string[];
  readonly Resource?: string | readonly string[];
  readonly Principal?: "*" | { readonly [kind: string]: string };
  readonly Condition?: { readonly [operator: string]: { readonly [key: string]: string | readonly string[] } };
}

/** A policy as text, keys in order, as Terraform's jsonencode writes it. */
export function policyDocument(statements: readonly Statement[]): string {
  return JSON.stringify(sorted({ Version: "2012-10-17", Statement: statements }));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

export interface PolicyScope {
  readonly partition: string;
  readonly region: string;
  readonly account: string;
  readonly clusterName: string;
}

const arn = ({ partition, region, account }: PolicyScope, service: string, resource: string) =>
  `arn:${partition}:${service}:${region}:${account}:${resource}`;

/** The cloud controller manager: sees the region, changes only what belongs to this cluster. */
export function cloudControllerPolicy(scope: PolicyScope): readonly Statement[] {
  const owned = { StringEquals: { [`aws:ResourceTag/kubernetes.io/cluster/${scope.clusterName}`]: "owned" } };
  const requested = { StringEquals: { [`aws:RequestTag/kubernetes.io/cluster/${scope.clusterName}`]: "owned" } };
  const balancers = [
    arn(scope, "elasticloadbalancing", "loadbalancer/*"),
    arn(scope, "elasticloadbalancing", "targetgroup/*"),
    arn(scope, "elasticloadbalancing", "listener/*"),
  ];
  const groups = arn(scope, "ec2", "security-group/*");
  return [
    {
      Sid: "See",
      Effect: "Allow",
      Action: [
        "autoscaling:DescribeAutoScalingGroups",
        "autoscaling:DescribeTags",
        "ec2:DescribeAvailabilityZones",
        "ec2:DescribeInstances",
        "ec2:DescribeInstanceTopology",
        "ec2:DescribeRegions",
        "ec2:DescribeRouteTables",
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeSubnets",
        "ec2:DescribeVpcs",
        "elasticloadbalancing:DescribeListeners",
        "elasticloadbalancing:DescribeLoadBalancerAttributes",
        "elasticloadbalancing:DescribeLoadBalancers",
        "elasticloadbalancing:DescribeTargetGroupAttributes",
        "elasticloadbalancing:DescribeTargetGroups",
        "elasticloadbalancing:DescribeTargetHealth",
      ],
      Resource: "*",
    },
    {
      Sid: "MakeLoadBalancers",
      Effect: "Allow",
      Action: [
        "elasticloadbalancing:AddTags",
        "elasticloadbalancing:CreateListener",
        "elasticloadbalancing:CreateLoadBalancer",
        "elasticloadbalancing:CreateTargetGroup",
      ],
      Resource: balancers,
      Condition: requested,
    },
    {
      Sid: "ChangeOwnLoadBalancers",
      Effect: "Allow",
      Action: [
        "elasticloadbalancing:DeleteListener",
        "elasticloadbalancing:DeleteLoadBalancer",
        "elasticloadbalancing:DeleteTargetGroup",
        "elasticloadbalancing:DeregisterTargets",
        "elasticloadbalancing:ModifyListener",
        "elasticloadbalancing:ModifyLoadBalancerAttributes",
        "elasticloadbalancing:ModifyTargetGroup",
        "elasticloadbalancing:ModifyTargetGroupAttributes",
        "elasticloadbalancing:RegisterTargets",
      ],
      Resource: balancers,
      Condition: owned,
    },
    {
      Sid: "MakeSecurityGroups",
      Effect: "Allow",
      Action: ["ec2:CreateSecurityGroup", "ec2:CreateTags"],
      Resource: [groups, arn(scope, "ec2", "vpc/*")],
      Condition: requested,
    },
    {
      Sid: "ChangeOwnSecurityGroups",
      Effect: "Allow",
      Action: ["ec2:AuthorizeSecurityGroupIngress", "ec2:DeleteSecurityGroup", "ec2:RevokeSecurityGroupIngress"],
      Resource: groups,
      Condition: owned,
    },
  ];
}

/** The EBS CSI driver: makes volumes with its tag, and changes only those. */
export function ebsCsiPolicy(scope: PolicyScope): readonly Statement[] {
  const volumes = arn(scope, "ec2", "volume/*");
  const snapshots = arn(scope, "ec2", "snapshot/*");
  const mark = "ebs.csi.aws.com/cluster";
  return [
    {
      Sid: "See",
      Effect: "Allow",
      Action: [
        "ec2:DescribeAvailabilityZones",
        "ec2:DescribeInstances",
        "ec2:DescribeSnapshots",
        "ec2:DescribeTags",
        "ec2:DescribeVolumes",
        "ec2:DescribeVolumesModifications",
      ],
      Resource: "*",
    },
    {
      Sid: "Make",
      Effect: "Allow",
      Action: ["ec2:CreateSnapshot", "ec2:CreateTags", "ec2:CreateVolume"],
      Resource: [volumes, snapshots],
      Condition: { StringLike: { [`aws:RequestTag/${mark}`]: "true" } },
    },
    {
      Sid: "ChangeOwn",
      Effect: "Allow",
      Action: ["ec2:DeleteSnapshot", "ec2:DeleteVolume", "ec2:ModifyVolume"],
      Resource: [volumes, snapshots],
      Condition: { StringLike: { [`aws:ResourceTag/${mark}`]: "true" } },
    },
    {
      Sid: "Attach",
      Effect: "Allow",
      Action: ["ec2:AttachVolume", "ec2:DetachVolume"],
      Resource: [volumes, arn(scope, "ec2", "instance/*")],
    },
  ];
}

/** etcd snapshots into their bucket and out of it. */
export function backupPolicy(bucketArn: string, keyArn: string): readonly Statement[] {
  return [
    { Sid: "List", Effect: "Allow", Action: "s3:ListBucket", Resource: bucketArn },
    { Sid: "ReadAndWrite", Effect: "Allow", Action: ["s3:GetObject", "s3:PutObject"], Resource: `${bucketArn}/*` },
    { Sid: "Encrypt", Effect: "Allow", Action: ["kms:Decrypt", "kms:GenerateDataKey"], Resource: keyArn },
  ];
}
