// SPDX-License-Identifier: Apache-2.0
import { allow, arn, clusterTag, madeWith, type PolicyScope, type Statement, tagged } from "./policy.ts";

/**
 * The cloud controller manager: sees the region, and makes and changes load balancers and security groups of this
 * cluster. Routes are the pod network's business here. Tags are given on creation only, so that it cannot make
 * something its own that is not.
 */
export function cloudControllerPolicy(scope: PolicyScope): readonly Statement[] {
  const tag = clusterTag(scope.clusterName);
  const [owned, requested] = [tagged(tag, "owned"), madeWith(tag, "owned")];
  const balancer = arn(scope, "elasticloadbalancing", "loadbalancer/*");
  const targets = arn(scope, "elasticloadbalancing", "targetgroup/*");
  const listener = arn(scope, "elasticloadbalancing", "listener/*");
  const groups = arn(scope, "ec2", "security-group/*");
  return [
    allow("See", seen, "*"),
    allow(
      "MakeLoadBalancers",
      ["elasticloadbalancing:CreateLoadBalancer", "elasticloadbalancing:CreateTargetGroup"],
      [balancer, targets],
      requested,
    ),
    allow("TagNewLoadBalancers", "elasticloadbalancing:AddTags", [balancer, targets, listener], {
      StringEquals: {
        "elasticloadbalancing:CreateAction": ["CreateListener", "CreateLoadBalancer", "CreateTargetGroup"],
      },
    }),
    allow(
      "ChangeOwnLoadBalancers",
      changed.map((action) => `elasticloadbalancing:${action}`),
      [balancer, targets, listener],
      owned,
    ),
    allow("MakeSecurityGroups", "ec2:CreateSecurityGroup", groups, requested),
    // The request's tag is the new group's; of the network it is made in, only the name can be asked for.
    allow("MakeSecurityGroupsHere", "ec2:CreateSecurityGroup", arn(scope, "ec2", `vpc/${scope.vpcId}`)),
    allow("TagNewSecurityGroups", "ec2:CreateTags", groups, {
      StringEquals: { "ec2:CreateAction": "CreateSecurityGroup" },
    }),
    allow(
      "ChangeOwnSecurityGroups",
      ["ec2:AuthorizeSecurityGroupIngress", "ec2:DeleteSecurityGroup", "ec2:RevokeSecurityGroupIngress"],
      groups,
      owned,
    ),
  ];
}

const seen = [
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
];

/** Of network load balancers, and of the classic ones that a service without annotations gets. */
const changed = [
  "AddTags",
  "ApplySecurityGroupsToLoadBalancer",
  "AttachLoadBalancerToSubnets",
  "ConfigureHealthCheck",
  "CreateListener",
  "CreateLoadBalancerListeners",
  "CreateLoadBalancerPolicy",
  "DeleteListener",
  "DeleteLoadBalancer",
  "DeleteLoadBalancerListeners",
  "DeleteTargetGroup",
  "DeregisterInstancesFromLoadBalancer",
  "DeregisterTargets",
  "DetachLoadBalancerFromSubnets",
  "ModifyListener",
  "ModifyLoadBalancerAttributes",
  "ModifyTargetGroup",
  "ModifyTargetGroupAttributes",
  "RegisterInstancesWithLoadBalancer",
  "RegisterTargets",
  "SetLoadBalancerPoliciesForBackendServer",
  "SetLoadBalancerPoliciesOfListener",
  "SetSecurityGroups",
];
