// SPDX-License-Identifier: Apache-2.0

type Tags = { readonly [key: string]: string };

interface MetadataOptions {
  readonly http_endpoint: "enabled";
  readonly http_tokens: "required";
  readonly http_put_response_hop_limit: number;
  readonly instance_metadata_tags: "enabled" | "disabled";
}

interface BlockDevice {
  readonly device_name: string;
  readonly ebs: {
    readonly volume_size: number;
    readonly volume_type: "gp3";
    readonly encrypted: "true";
    readonly delete_on_termination: "true";
  };
}

/** Arguments of the machine resources of hashicorp/aws, as far as we use them. */
export interface ComputeResources {
  aws_instance: {
    readonly ami: string;
    readonly instance_type: string;
    readonly subnet_id: string;
    readonly associate_public_ip_address: boolean;
    readonly vpc_security_group_ids: readonly string[];
    readonly iam_instance_profile: string;
    readonly ebs_optimized: boolean;
    readonly monitoring: boolean;
    readonly disable_api_termination?: boolean;
    readonly user_data_base64?: string;
    readonly root_block_device: {
      readonly volume_size: number;
      readonly volume_type: "gp3";
      readonly encrypted: boolean;
      readonly delete_on_termination: boolean;
    };
    readonly metadata_options: MetadataOptions;
    readonly tags: Tags;
  };
  aws_ebs_volume: {
    readonly availability_zone: string;
    readonly size: number;
    readonly type: "gp3";
    readonly encrypted: boolean;
    readonly tags: Tags;
  };
  aws_volume_attachment: { readonly device_name: string; readonly instance_id: string; readonly volume_id: string };
  aws_launch_template: {
    readonly name: string;
    readonly image_id: string;
    readonly instance_type: string;
    /** A text, for whatever reason. */
    readonly ebs_optimized: "true";
    readonly user_data: string;
    readonly vpc_security_group_ids: readonly string[];
    readonly update_default_version: boolean;
    readonly iam_instance_profile: { readonly arn: string };
    readonly monitoring: { readonly enabled: boolean };
    readonly metadata_options: MetadataOptions;
    readonly block_device_mappings: readonly BlockDevice[];
    readonly tag_specifications: readonly { readonly resource_type: string; readonly tags: Tags }[];
    readonly tags: Tags;
  };
  aws_autoscaling_group: {
    readonly name: string;
    readonly min_size: number;
    readonly max_size: number;
    readonly desired_capacity: number;
    readonly vpc_zone_identifier: readonly string[];
    readonly health_check_type: "EC2";
    readonly launch_template: { readonly id: string; readonly version: string };
    readonly tag: readonly { readonly key: string; readonly value: string; readonly propagate_at_launch: boolean }[];
  };
}
