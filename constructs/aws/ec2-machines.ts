// SPDX-License-Identifier: Apache-2.0
import { Fn, Op } from "cdktf";
import type { Construct } from "constructs";
import { given } from "../../talos/given.ts";
import type { MachineRows } from "../cluster/index.ts";
import { type Addressable, ReplacementTrigger } from "../terraform/index.ts";
import { AwsResource } from "./bindings.ts";
import { clusterTag } from "./policy.ts";

const gibibyte = 2 ** 30;

/** What instances have in common, fixed or in a scaling group. */
export interface InstanceSettings {
  readonly clusterName: string;
  readonly ami: string;
  readonly instanceType: string;
  /** Bytes. */
  readonly disk: number;
  readonly extraDisks: readonly { readonly size: number }[];
  readonly securityGroupId: string;
  readonly monitoring: boolean;
  /** Reference to the config that the instance starts with. @default - it waits for one over the API */
  readonly config?: string | undefined;
}

export interface Ec2MachinesProps extends InstanceSettings {
  readonly rows: MachineRows;
  readonly subnetOf: (index: number) => string;
  readonly isPublic: boolean;
  readonly profileName: string;
  readonly protectedFromDeletion: boolean;
  /** Whether the cluster has to know when one of them is stopped. */
  readonly oneByOne: boolean;
}

/** The instances of a pool, and what else there is of each of them. */
export interface Ec2Machines {
  readonly instances: AwsResource<"aws_instance">;
  /** Which attribute of an instance has the address that it is reached at. */
  readonly address: "public_ip" | "private_ip";
  readonly hardware: ReplacementTrigger | undefined;
  readonly attachments: readonly Addressable[];
}

/** User-data as EC2 takes it: at most 16 KiB, which a config is only when packed. */
export function packUserData(config: string): string {
  return Fn.base64gzip(config);
}

/** Longest user-data in base64: 16 KiB before it. */
const userDataLimit = Math.ceil((16 * 1024) / 3) * 4;

export const metadataOptions = {
  http_endpoint: "enabled",
  http_tokens: "required",
  // Pods must not take on the role of their machine.
  http_put_response_hop_limit: 1,
  instance_metadata_tags: "disabled",
} as const;

/** EC2 instances with encrypted disks. */
export function createEc2Machines(scope: Construct, props: Ec2MachinesProps): Ec2Machines {
  const { rows, isPublic } = props;
  const { each, forEach } = rows;
  const subnet = rows.column("subnet_id", ({ index }) => props.subnetOf(index - 1));
  const tags = { Name: each.name, [clusterTag(props.clusterName)]: "owned" };
  const userData = props.config === undefined ? undefined : packUserData(props.config);
  // EC2 changes the type of an instance by stopping it.
  const hardware = props.oneByOne
    ? new ReplacementTrigger(scope, "hardware", props.instanceType, { forEach })
    : undefined;
  const instances = new AwsResource(
    scope,
    "Resource",
    "aws_instance",
    {
      ami: props.ami,
      instance_type: props.instanceType,
      subnet_id: subnet(each),
      associate_public_ip_address: isPublic,
      vpc_security_group_ids: [props.securityGroupId],
      iam_instance_profile: props.profileName,
      ebs_optimized: true,
      monitoring: props.monitoring,
      ...given({
        disable_api_termination: props.protectedFromDeletion || undefined,
        user_data_base64: userData,
      }),
      root_block_device: {
        volume_size: Math.ceil(props.disk / gibibyte),
        volume_type: "gp3",
        encrypted: true,
        delete_on_termination: true,
      },
      metadata_options: metadataOptions,
      tags,
    },
    {
      forEach,
      // A newer image or config reaches a running machine over the Talos API, never by a new machine.
      lifecycle: {
        ignoreChanges: ["ami", "user_data_base64"],
        ...given({ precondition: userData === undefined ? undefined : [withinLimit(userData)] }),
      },
    },
  );
  if (hardware !== undefined) instances.dependOn(hardware);
  const attachments = props.extraDisks.map(({ size }, index) => addDisks(scope, rows, instances, size, index, tags));
  return { instances, address: isPublic ? "public_ip" : "private_ip", hardware, attachments };
}

/** A disk for each instance. One that is detached while pods write to it is a disk with a broken file system. */
function addDisks(
  scope: Construct,
  { each: { key }, forEach }: MachineRows,
  instances: AwsResource<"aws_instance">,
  size: number,
  index: number,
  tags: { readonly [key: string]: string },
): Addressable {
  const volumes = new AwsResource(
    scope,
    `data-${index + 1}`,
    "aws_ebs_volume",
    {
      availability_zone: instances.instance(key, "availability_zone"),
      size: Math.ceil(size / gibibyte),
      type: "gp3",
      encrypted: true,
      tags,
    },
    { forEach },
  );
  return new AwsResource(
    scope,
    `data-${index + 1}-attachment`,
    "aws_volume_attachment",
    {
      device_name: `/dev/sd${String.fromCharCode("f".charCodeAt(0) + index)}`,
      instance_id: instances.instance(key, "id"),
      volume_id: volumes.instance(key, "id"),
    },
    { forEach },
  );
}

/** Fails the plan rather than the launch. */
export function withinLimit(userData: string) {
  return {
    condition: Op.lte(Fn.lengthOf(userData), userDataLimit),
    errorMessage:
      "The machine config is over 16 KiB when packed, more than EC2 takes as user-data. Move patches out of it: they can be applied over the API.",
  };
}
