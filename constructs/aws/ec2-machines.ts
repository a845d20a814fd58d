// SPDX-License-Identifier: Apache-2.0
import { Fn, Op } from "cdktn";
import type { Construct } from "constructs";
import { given } from "../../talos/given.ts";
import type { MachineRows } from "../cluster/index.ts";
import { type Addressable, expression, ReplacementTrigger } from "../terraform/index.ts";
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
  /** Tags of the cluster, for what the provider's default tags do not reach. */
  readonly tags: { readonly [key: string]: string };
  /** Key of the disks. @default - the account's key for EBS */
  readonly kmsKeyId?: string | undefined;
  readonly monitoring: boolean;
  /** Network hops to the metadata service: with one, pods cannot take on the role of their machine. */
  readonly hopLimit: number;
  /** Reference to the config that the instance starts with. @default - it waits for one over the API */
  readonly config?: string | undefined;
}

export interface Ec2MachinesProps extends InstanceSettings {
  readonly rows: MachineRows;
  /** Subnets of the pool, in the order in which new machines take them. */
  readonly subnetIds: readonly string[];
  readonly isPublic: boolean;
  readonly profileName: string;
  /** Whether a public address stays the same when EC2 stops the machine. */
  readonly keepsAddress: boolean;
  readonly protectedFromDeletion: boolean;
}

/** The instances of a pool, and what else there is of each of them. */
export interface Ec2Machines {
  readonly instances: AwsResource<"aws_instance">;
  readonly hardware: ReplacementTrigger;
  /** Address of a machine, by an expression of its key. */
  address(key: string): string;
  /** What else a machine needs. */
  readonly parts: readonly Addressable[];
}

/** User-data as EC2 takes it: at most 16 KiB, which a config is only when packed. */
export function packUserData(config: string): string {
  return Fn.base64gzip(config);
}

/** Longest user-data in base64: 16 KiB before it. */
const userDataLimit = Math.ceil((16 * 1024) / 3) * 4;

export const metadataOptions = ({ hopLimit }: InstanceSettings) =>
  ({
    http_endpoint: "enabled",
    http_tokens: "required",
    http_put_response_hop_limit: hopLimit,
    instance_metadata_tags: "disabled",
  }) as const;

/** EC2 instances with encrypted disks. */
export function createEc2Machines(scope: Construct, props: Ec2MachinesProps): Ec2Machines {
  const { rows, isPublic, subnetIds } = props;
  const { each, forEach } = rows;
  const subnet = rows.column("subnet_id", ({ index }) => subnetIds[(index - 1) % subnetIds.length]);
  const tags = { Name: each.name, [clusterTag(props.clusterName)]: "owned" };
  const userData = props.config === undefined ? undefined : packUserData(props.config);
  // EC2 changes the type of an instance by stopping it.
  const hardware = new ReplacementTrigger(scope, "hardware", props.instanceType, { forEach });
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
        ...given({ kms_key_id: props.kmsKeyId }),
        delete_on_termination: true,
      },
      metadata_options: metadataOptions(props),
      tags,
    },
    {
      forEach,
      // A newer image or config reaches a running machine over the Talos API, never by a new machine. And a machine stays
      // in its zone, whatever zones are added: only where its zone goes, it has to go as well. Another key is for new disks.
      // A public address goes when somebody stops the machine, and AWS's provider would replace it for that.
      lifecycle: {
        ignoreChanges: [
          "ami",
          "associate_public_ip_address",
          "root_block_device[0].kms_key_id",
          "subnet_id",
          "user_data_base64",
        ],
        ...given({ precondition: userData === undefined ? undefined : [withinLimit(userData)] }),
        postcondition: [inZone(subnetIds)],
      },
    },
  );
  instances.dependOn(hardware);
  const fixed = isPublic && props.keepsAddress ? fixAddresses(scope, rows, instances) : undefined;
  const attachments = props.extraDisks.map(({ size }, index) => addDisks(scope, instances, props, index, size, tags));
  const address = (key: string) => (fixed ?? instances).instance(key, isPublic ? "public_ip" : "private_ip");
  return { instances, hardware, address, parts: [...attachments, ...(fixed === undefined ? [] : [fixed])] };
}

/** An elastic address for each instance. */
function fixAddresses(
  scope: Construct,
  { each, forEach }: MachineRows,
  instances: AwsResource<"aws_instance">,
): AwsResource<"aws_eip"> {
  const args = { domain: "vpc", instance: instances.instance(each.key, "id"), tags: { Name: each.name } } as const;
  return new AwsResource(scope, "address", "aws_eip", args, { forEach });
}

/** A disk for each instance. One that is detached while pods write to it is a disk with a broken file system. */
function addDisks(
  scope: Construct,
  instances: AwsResource<"aws_instance">,
  { rows, kmsKeyId }: Ec2MachinesProps,
  index: number,
  size: number,
  tags: { readonly [key: string]: string },
): Addressable {
  const {
    each: { key },
    forEach,
  } = rows;
  const volumes = new AwsResource(
    scope,
    `data-${index + 1}`,
    "aws_ebs_volume",
    {
      availability_zone: instances.instance(key, "availability_zone"),
      size: Math.ceil(size / gibibyte),
      type: "gp3",
      encrypted: true,
      ...given({ kms_key_id: kmsKeyId }),
      tags,
    },
    { forEach, lifecycle: { ignoreChanges: ["kms_key_id"] } },
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

/** Fails the plan rather than the removal of the subnet, which AWS refuses while a machine is in it. */
function inZone(subnetIds: readonly string[]) {
  return {
    condition: Fn.contains([...new Set(subnetIds)], expression("self.subnet_id")),
    errorMessage: `The machine ${expression("each.key")} is in ${expression("self.availability_zone")}, which is no zone of its pool any more. Add the zone again, or replace the machine: talosmith deploy does it, or terraform apply with -replace and its address.`,
  };
}

/** Fails the plan rather than the launch. */
export function withinLimit(userData: string) {
  return {
    condition: Op.lte(Fn.lengthOf(userData), userDataLimit),
    errorMessage:
      "The machine config is over 16 KiB when packed, more than EC2 takes as user-data. Move patches out of it: they can be applied over the API.",
  };
}
