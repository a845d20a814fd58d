// SPDX-License-Identifier: Apache-2.0
import { arn, clusterTag, madeWith, type PolicyScope, type Statement, tagged } from "./policy.ts";

/** The tag that the driver gives to all it makes. */
const mark = "ebs.csi.aws.com/cluster";

/**
 * The EBS CSI driver: makes volumes and snapshots with its tag, changes only those, and attaches them to machines of
 * this cluster only. A statement per kind of resource: AWS holds each resource of a request against the conditions by
 * itself, and what is only read carries no tag of the request.
 */
export function ebsCsiPolicy(scope: PolicyScope): readonly Statement[] {
  const volumes = arn(scope, "ec2", "volume/*");
  const snapshots = arn(scope, "ec2", "snapshot/*");
  const [own, requested] = [tagged(mark, "true"), madeWith(mark, "true")];
  return [
    {
      Sid: "See",
      Effect: "Allow",
      Action: [
        "ec2:DescribeAvailabilityZones",
        "ec2:DescribeInstanceTypes",
        "ec2:DescribeInstances",
        "ec2:DescribeSnapshots",
        "ec2:DescribeTags",
        "ec2:DescribeVolumeStatus",
        "ec2:DescribeVolumes",
        "ec2:DescribeVolumesModifications",
      ],
      Resource: "*",
    },
    {
      Sid: "MakeVolumes",
      Effect: "Allow",
      Action: ["ec2:CopyVolumes", "ec2:CreateVolume"],
      Resource: volumes,
      Condition: requested,
    },
    {
      Sid: "MakeSnapshots",
      Effect: "Allow",
      Action: "ec2:CreateSnapshot",
      Resource: snapshots,
      Condition: requested,
    },
    {
      Sid: "TagNew",
      Effect: "Allow",
      Action: "ec2:CreateTags",
      Resource: [volumes, snapshots],
      Condition: { StringEquals: { "ec2:CreateAction": ["CopyVolumes", "CreateSnapshot", "CreateVolume"] } },
    },
    {
      Sid: "UseOwnVolumes",
      Effect: "Allow",
      Action: [
        "ec2:AttachVolume",
        "ec2:CopyVolumes",
        "ec2:CreateSnapshot",
        "ec2:DeleteVolume",
        "ec2:DetachVolume",
        "ec2:ModifyVolume",
      ],
      Resource: volumes,
      Condition: own,
    },
    {
      Sid: "UseOwnSnapshots",
      Effect: "Allow",
      Action: ["ec2:CreateVolume", "ec2:DeleteSnapshot"],
      Resource: snapshots,
      Condition: own,
    },
    {
      Sid: "AttachToOwnMachines",
      Effect: "Allow",
      Action: ["ec2:AttachVolume", "ec2:DetachVolume"],
      Resource: arn(scope, "ec2", "instance/*"),
      Condition: tagged(clusterTag(scope.clusterName), "owned"),
    },
  ];
}
