// SPDX-License-Identifier: Apache-2.0
import { Fn, Op } from "cdktf";
import type { Construct } from "constructs";
import { given } from "../../talos/given.ts";
import { Machine, type MachineRequest } from "../cluster/index.ts";
import { ReplacementTrigger } from "../terraform/index.ts";
import { AwsResource } from "./bindings/index.ts";
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

export interface Ec2MachineProps extends InstanceSettings {
  readonly subnetId: string;
  readonly isPublic: boolean;
  readonly profileName: string;
  readonly protectedFromDeletion: boolean;
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

/** An EC2 instance with encrypted disks. */
export class Ec2Machine extends Machine {
  readonly bootMedium = "machine-image";
  readonly address: string;
  readonly resource: AwsResource<"aws_instance">;
  /** Its address on the internet, when it has one. */
  readonly publicAddress: string | undefined;
  readonly #hardware: ReplacementTrigger | undefined;

  constructor(scope: Construct, request: MachineRequest, props: Ec2MachineProps) {
    super(scope, request);
    const tags = { Name: request.name, [clusterTag(props.clusterName)]: "owned" };
    const userData = props.config === undefined ? undefined : packUserData(props.config);
    const limit = userData === undefined ? {} : { precondition: [withinLimit(userData)] };
    // EC2 changes the type of an instance by stopping it.
    if (request.role === "controlplane") this.#hardware = new ReplacementTrigger(this, "hardware", props.instanceType);
    this.resource = new AwsResource(
      this,
      "Resource",
      "aws_instance",
      {
        ami: props.ami,
        instance_type: props.instanceType,
        subnet_id: props.subnetId,
        associate_public_ip_address: props.isPublic,
        vpc_security_group_ids: [props.securityGroupId],
        iam_instance_profile: props.profileName,
        ebs_optimized: true,
        monitoring: props.monitoring,
        ...(props.protectedFromDeletion ? { disable_api_termination: true } : {}),
        ...given({ user_data_base64: userData }),
        root_block_device: {
          volume_size: Math.ceil(props.disk / gibibyte),
          volume_type: "gp3",
          encrypted: true,
          delete_on_termination: true,
        },
        metadata_options: metadataOptions,
        tags,
      },
      // A newer image or config reaches a running machine over the Talos API, never by a new machine.
      { lifecycle: { ignoreChanges: ["ami", "user_data_base64"], ...limit } },
    );
    if (this.#hardware !== undefined) this.resource.dependOn(this.#hardware);
    this.publicAddress = props.isPublic ? this.resource.attribute("public_ip") : undefined;
    this.address = this.publicAddress ?? this.resource.attribute("private_ip");
    for (const [index, { size }] of props.extraDisks.entries()) this.#addDisk(size, index, tags);
  }

  get identity(): string {
    return this.resource.id;
  }

  override get hardwareId(): string | undefined {
    return this.#hardware?.id;
  }

  #addDisk(size: number, index: number, tags: { readonly [key: string]: string }): void {
    const volume = new AwsResource(this, `data-${index + 1}`, "aws_ebs_volume", {
      availability_zone: this.resource.attribute("availability_zone"),
      size: Math.ceil(size / gibibyte),
      type: "gp3",
      encrypted: true,
      tags,
    });
    const attachment = new AwsResource(this, `data-${index + 1}-attachment`, "aws_volume_attachment", {
      device_name: `/dev/sd${String.fromCharCode("f".charCodeAt(0) + index)}`,
      instance_id: this.resource.id,
      volume_id: volume.id,
    });
    // A disk that is detached while pods write to it is a disk with a broken file system.
    this.needs.push(attachment);
  }
}

/** Fails the plan rather than the launch. */
export function withinLimit(userData: string) {
  return {
    condition: Op.lte(Fn.lengthOf(userData), userDataLimit),
    errorMessage:
      "The machine config is over 16 KiB when packed, more than EC2 takes as user-data. Move patches out of it: they can be applied over the API.",
  };
}
