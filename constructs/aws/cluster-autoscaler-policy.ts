// SPDX-License-Identifier: Apache-2.0
import { allow, arn, type PolicyScope, type Statement, tagged } from "./policy.ts";

const prefix = "k8s.io/cluster-autoscaler";

/** What a node of a group that has no machine yet will be, for the autoscaler to decide by. */
interface NodeMarks {
  readonly labels?: { readonly [key: string]: string } | undefined;
  /** Values are `value:Effect` or `Effect`. */
  readonly taints?: { readonly [key: string]: string } | undefined;
}

/** The tags by which the autoscaler finds a cluster's groups, and knows what their nodes will be. */
export function autoscalerTags(clusterName: string, marks: NodeMarks): { readonly [key: string]: string } {
  const template = (kind: string, values: { readonly [key: string]: string } = {}) =>
    Object.entries(values).map(([key, value]) => [`${prefix}/node-template/${kind}/${key}`, value]);
  // Its form of a taint without a value.
  const withValue = (taint: string) => (taint.includes(":") ? taint : `:${taint}`);
  const taints = Object.fromEntries(Object.entries(marks.taints ?? {}).map(([key, taint]) => [key, withValue(taint)]));
  return {
    [`${prefix}/enabled`]: "true",
    [`${prefix}/${clusterName}`]: "owned",
    ...Object.fromEntries([...template("label", marks.labels), ...template("taint", taints)]),
  };
}

/** The cluster autoscaler: sees all groups, and changes the size of this cluster's only. */
export function clusterAutoscalerPolicy(scope: PolicyScope): readonly Statement[] {
  return [
    allow(
      "See",
      [
        "autoscaling:DescribeAutoScalingGroups",
        "autoscaling:DescribeAutoScalingInstances",
        "autoscaling:DescribeLaunchConfigurations",
        "autoscaling:DescribeScalingActivities",
        "autoscaling:DescribeTags",
        "ec2:DescribeImages",
        "ec2:DescribeInstanceTypes",
        "ec2:DescribeLaunchTemplateVersions",
        "ec2:GetInstanceTypesFromInstanceRequirements",
      ],
      "*",
    ),
    allow(
      "ResizeOwnGroups",
      ["autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"],
      arn(scope, "autoscaling", "autoScalingGroup:*:autoScalingGroupName/*"),
      tagged(`${prefix}/${scope.clusterName}`, "owned"),
    ),
  ];
}
