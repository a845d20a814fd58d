// SPDX-License-Identifier: Apache-2.0
import { allow, arn, clusterTag, madeWith, type PolicyScope, type Statement, tagged } from "./policy.ts";

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
    allow(
      "See",
      [
        "ec2:DescribeAvailabilityZones",
        "ec2:DescribeInstanceTypes",
        "ec2:DescribeInstances",
        "ec2:DescribeSnapshots",
        "ec2:DescribeTags",
        "ec2:DescribeVolumeStatus",
        "ec2:DescribeVolumes",
        "ec2:DescribeVolumesModifications",
      ],
      "*",
    ),
    allow("MakeVolumes", ["ec2:CopyVolumes", "ec2:CreateVolume"], volumes, requested),
    allow("MakeSnapshots", "ec2:CreateSnapshot", snapshots, requested),
    allow("TagNew", "ec2:CreateTags", [volumes, snapshots], {
      StringEquals: { "ec2:CreateAction": ["CopyVolumes", "CreateSnapshot", "CreateVolume"] },
    }),
    allow(
      "UseOwnVolumes",
      [
        "ec2:AttachVolume",
        "ec2:CopyVolumes",
        "ec2:CreateSnapshot",
        "ec2:DeleteVolume",
        "ec2:DetachVolume",
        "ec2:ModifyVolume",
      ],
      volumes,
      own,
    ),
    allow("UseOwnSnapshots", ["ec2:CreateVolume", "ec2:DeleteSnapshot"], snapshots, own),
    allow(
      "AttachToOwnMachines",
      ["ec2:AttachVolume", "ec2:DetachVolume"],
      arn(scope, "ec2", "instance/*"),
      tagged(clusterTag(scope.clusterName), "owned"),
    ),
  ];
}
