// SPDX-License-Identifier: Apache-2.0
import { Construct } from "constructs";
import { scalingPoolLabel } from "../../model/settings/index.ts";
import { given } from "../../talos/given.ts";
import type { PoolRequest } from "../cluster/index.ts";
import { AwsResource } from "./bindings.ts";
import { autoscalerTags } from "./cluster-autoscaler-policy.ts";
import { type InstanceSettings, metadataOptions, packUserData, withinLimit } from "./ec2-machines.ts";
import { clusterTag } from "./policy.ts";

const gibibyte = 2 ** 30;

export interface ScalingGroupProps extends InstanceSettings {
  readonly pool: string;
  readonly nodes: PoolRequest<object>["nodes"];
  readonly config: string;
  readonly subnetIds: readonly string[];
  readonly profileArn: string;
  readonly min: number;
  readonly max: number;
  readonly start: number;
}

/** Workers that come and go by themselves. They are in no list: the engine finds them by the label of their nodes. */
export class ScalingGroup extends Construct {
  constructor(scope: Construct, id: string, props: ScalingGroupProps) {
    super(scope, id);
    const { pool, clusterName, nodes } = props;
    const name = `${clusterName}-${pool}`;
    const tags = { ...props.tags, Name: name, [clusterTag(clusterName)]: "owned" };
    const labels = { ...nodes.labels, [scalingPoolLabel]: pool };
    const userData = packUserData(props.config);
    const sizes = [props.disk, ...props.extraDisks.map((disk) => disk.size)];
    const template = new AwsResource(
      this,
      "template",
      "aws_launch_template",
      {
        name,
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
        name,
        min_size: props.min,
        max_size: props.max,
        desired_capacity: props.start,
        vpc_zone_identifier: props.subnetIds,
        health_check_type: "EC2",
        launch_template: { id: template.id, version: template.attribute("latest_version") },
        // Machines that start later, or that AWS has no room for, must not keep the cluster from being deployed.
        wait_for_capacity_timeout: "0",
        // It would terminate machines that were not drained.
        suspended_processes: ["AZRebalance"],
        tag: [
          ...Object.entries(tags).map(([key, value]) => ({ key, value, propagate_at_launch: true })),
          ...Object.entries(autoscalerTags(clusterName, { ...nodes, labels })).map(([key, value]) => ({
            ...{ key, value, propagate_at_launch: false },
          })),
        ],
      },
      // The autoscaler decides from here on.
      { lifecycle: { ignoreChanges: ["desired_capacity"] } },
    );
  }
}
