// SPDX-License-Identifier: Apache-2.0
import { Construct } from "constructs";
import { given } from "../../talos/given.ts";
import { AwsResource } from "./bindings.ts";
import { type InstanceSettings, metadataOptions, packUserData, withinLimit } from "./ec2-machines.ts";
import { clusterTag } from "./policy.ts";

const gibibyte = 2 ** 30;

export interface ScalingGroupProps extends InstanceSettings {
  readonly name: string;
  readonly config: string;
  readonly subnetIds: readonly string[];
  readonly profileArn: string;
  readonly min: number;
  readonly max: number;
  readonly start: number;
}

/** Workers that come and go by themselves. They are found as members of the cluster, not listed in it. */
export class ScalingGroup extends Construct {
  constructor(scope: Construct, id: string, props: ScalingGroupProps) {
    super(scope, id);
    const tags = { ...props.tags, Name: props.name, [clusterTag(props.clusterName)]: "owned" };
    const userData = packUserData(props.config);
    const sizes = [props.disk, ...props.extraDisks.map((disk) => disk.size)];
    const template = new AwsResource(
      this,
      "template",
      "aws_launch_template",
      {
        name: props.name,
        image_id: props.ami,
        instance_type: props.instanceType,
        ebs_optimized: "true",
        user_data: userData,
        vpc_security_group_ids: [props.securityGroupId],
        update_default_version: true,
        iam_instance_profile: { arn: props.profileArn },
        monitoring: { enabled: props.monitoring },
        metadata_options: metadataOptions(props),
        // The node is named after the instance: the cloud controller manager finds it by that.
        private_dns_name_options: { hostname_type: "resource-name", enable_resource_name_dns_a_record: true },
        block_device_mappings: sizes.map((size, index) => ({
          device_name: index === 0 ? "/dev/xvda" : `/dev/sd${String.fromCharCode("e".charCodeAt(0) + index)}`,
          ebs: {
            volume_size: Math.ceil(size / gibibyte),
            volume_type: "gp3",
            encrypted: "true",
            ...given({ kms_key_id: props.kmsKeyId }),
            delete_on_termination: "true",
          },
        })),
        tag_specifications: [
          { resource_type: "instance", tags },
          { resource_type: "volume", tags },
        ],
        tags,
      },
      { lifecycle: { precondition: [withinLimit(userData)] } },
    );
    new AwsResource(
      this,
      "Resource",
      "aws_autoscaling_group",
      {
        name: props.name,
        min_size: props.min,
        max_size: props.max,
        desired_capacity: props.start,
        vpc_zone_identifier: props.subnetIds,
        health_check_type: "EC2",
        launch_template: { id: template.id, version: template.attribute("latest_version") },
        tag: Object.entries(tags).map(([key, value]) => ({ key, value, propagate_at_launch: true })),
      },
      // The autoscaler decides from here on.
      { lifecycle: { ignoreChanges: ["desired_capacity"] } },
    );
  }
}
