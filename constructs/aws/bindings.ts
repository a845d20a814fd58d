// SPDX-License-Identifier: Apache-2.0
// The part of hashicorp/aws 6 that we use; test/constructs/conformance.test.ts holds it against the real schema.
import type { Construct } from "constructs";
import { type Arguments, type BindingMeta, DataSource, Provider, Resource } from "../terraform/index.ts";

export interface AwsProviderArguments {
  readonly region: string;
  readonly profile?: string;
  readonly allowed_account_ids?: readonly string[];
  readonly assume_role?: { readonly role_arn: string; readonly session_name?: string; readonly external_id?: string };
  readonly default_tags?: { readonly tags: { readonly [key: string]: string } };
}

export class AwsProvider extends Provider<AwsProviderArguments> {
  constructor(scope: Construct, id: string, args: AwsProviderArguments, alias?: string) {
    super(scope, id, { name: "aws", source: "hashicorp/aws", version: "~> 6.0" }, args, alias);
  }
}

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
    readonly kms_key_id?: string;
    readonly delete_on_termination: "true";
  };
}

export interface SecurityGroupRuleArguments {
  readonly security_group_id: string;
  readonly description: string;
  readonly ip_protocol: string;
  readonly from_port?: number;
  readonly to_port?: number;
  readonly cidr_ipv4?: string;
  readonly referenced_security_group_id?: string;
}

/** Arguments of the resources of hashicorp/aws, as far as we use them. */
export interface AwsResources {
  // Machines
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
      readonly kms_key_id?: string;
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
    readonly kms_key_id?: string;
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
    readonly private_dns_name_options: {
      readonly hostname_type: "resource-name";
      readonly enable_resource_name_dns_a_record: boolean;
    };
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
    readonly wait_for_capacity_timeout: string;
    readonly suspended_processes: readonly string[];
    readonly tag: readonly { readonly key: string; readonly value: string; readonly propagate_at_launch: boolean }[];
  };
  aws_autoscaling_attachment: { readonly autoscaling_group_name: string; readonly lb_target_group_arn: string };
  // Network
  aws_vpc: {
    readonly cidr_block: string;
    readonly enable_dns_hostnames: boolean;
    readonly enable_dns_support: boolean;
    readonly tags: Tags;
  };
  aws_default_security_group: { readonly vpc_id: string; readonly tags: Tags };
  aws_internet_gateway: { readonly vpc_id: string; readonly tags: Tags };
  aws_subnet: {
    readonly vpc_id: string;
    readonly cidr_block: string;
    readonly availability_zone: string;
    readonly map_public_ip_on_launch: boolean;
    readonly tags: Tags;
  };
  aws_eip: { readonly domain: "vpc"; readonly instance?: string; readonly tags: Tags };
  aws_vpc_endpoint: {
    readonly vpc_id: string;
    readonly service_name: string;
    readonly vpc_endpoint_type: "Gateway";
    readonly route_table_ids: readonly string[];
    readonly tags: Tags;
  };
  aws_nat_gateway: { readonly allocation_id: string; readonly subnet_id: string; readonly tags: Tags };
  aws_route_table: { readonly vpc_id: string; readonly tags: Tags };
  aws_route: {
    readonly route_table_id: string;
    readonly destination_cidr_block: string;
    readonly gateway_id?: string;
    readonly nat_gateway_id?: string;
  };
  aws_route_table_association: { readonly route_table_id: string; readonly subnet_id: string };
  aws_flow_log: {
    readonly vpc_id: string;
    readonly traffic_type: "ALL";
    readonly log_destination: string;
    readonly iam_role_arn: string;
    readonly tags: Tags;
  };
  aws_security_group: {
    readonly name: string;
    readonly description: string;
    readonly vpc_id: string;
    readonly tags: Tags;
  };
  aws_vpc_security_group_ingress_rule: SecurityGroupRuleArguments;
  aws_vpc_security_group_egress_rule: SecurityGroupRuleArguments;
  aws_lb: {
    readonly name: string;
    readonly load_balancer_type: "network";
    readonly internal: boolean;
    readonly subnets: readonly string[];
    readonly security_groups: readonly string[];
    readonly enable_cross_zone_load_balancing: boolean;
    readonly enable_deletion_protection: boolean;
    readonly tags: Tags;
  };
  aws_lb_target_group: {
    readonly name: string;
    readonly port: number;
    readonly protocol: "TCP";
    readonly target_type: "instance";
    readonly vpc_id: string;
    /** A text, for whatever reason. */
    readonly preserve_client_ip: "true" | "false";
    readonly deregistration_delay: string;
    readonly health_check: { readonly protocol: "TCP"; readonly port: string; readonly interval: number };
    readonly tags: Tags;
  };
  aws_lb_target_group_attachment: {
    readonly target_group_arn: string;
    readonly target_id: string;
    readonly port: number;
  };
  aws_lb_listener: {
    readonly load_balancer_arn: string;
    readonly port: number;
    readonly protocol: "TCP";
    readonly default_action: { readonly type: "forward"; readonly target_group_arn: string };
    readonly tags: Tags;
  };
  aws_route53_zone: { readonly name: string; readonly vpc?: { readonly vpc_id: string }; readonly tags: Tags };
  aws_route53_record: {
    readonly zone_id: string;
    readonly name: string;
    readonly type: "A";
    readonly alias: { readonly name: string; readonly zone_id: string; readonly evaluate_target_health: boolean };
  };
  // Storage, keys, logs and access
  aws_kms_key: {
    readonly description: string;
    readonly enable_key_rotation: boolean;
    readonly deletion_window_in_days: number;
    readonly policy: string;
    readonly tags: Tags;
  };
  aws_cloudwatch_log_group: {
    readonly name: string;
    readonly retention_in_days: number;
    readonly kms_key_id: string;
    readonly tags: Tags;
  };
  aws_s3_bucket: { readonly bucket_prefix: string; readonly force_destroy?: boolean; readonly tags: Tags };
  aws_s3_bucket_public_access_block: {
    readonly bucket: string;
    readonly block_public_acls: boolean;
    readonly block_public_policy: boolean;
    readonly ignore_public_acls: boolean;
    readonly restrict_public_buckets: boolean;
  };
  aws_s3_bucket_versioning: {
    readonly bucket: string;
    readonly versioning_configuration: { readonly status: "Enabled" };
  };
  aws_s3_bucket_server_side_encryption_configuration: {
    readonly bucket: string;
    readonly rule: {
      readonly bucket_key_enabled?: boolean;
      readonly apply_server_side_encryption_by_default:
        | { readonly sse_algorithm: "aws:kms"; readonly kms_master_key_id: string }
        | { readonly sse_algorithm: "AES256" };
    };
  };
  aws_s3_bucket_lifecycle_configuration: {
    readonly bucket: string;
    readonly rule: readonly {
      readonly id: string;
      readonly status: "Enabled";
      readonly filter: { readonly prefix: string };
      readonly expiration?: { readonly days: number };
      readonly noncurrent_version_expiration: { readonly noncurrent_days: number };
      readonly abort_incomplete_multipart_upload: { readonly days_after_initiation: number };
    }[];
  };
  aws_s3_bucket_notification: { readonly bucket: string; readonly eventbridge: boolean };
  aws_s3_bucket_policy: { readonly bucket: string; readonly policy: string };
  aws_s3_bucket_logging: { readonly bucket: string; readonly target_bucket: string; readonly target_prefix: string };
  aws_iam_role: { readonly name: string; readonly assume_role_policy: string; readonly tags: Tags };
  aws_iam_role_policy: { readonly name: string; readonly role: string; readonly policy: string };
  aws_iam_role_policy_attachment: { readonly role: string; readonly policy_arn: string };
  aws_iam_instance_profile: { readonly name: string; readonly role: string; readonly tags: Tags };
}

/** Any resource of hashicorp/aws that we use; its type decides its arguments. */
export class AwsResource<T extends keyof AwsResources> extends Resource<AwsResources[T]> {
  constructor(scope: Construct, id: string, type: T, args: Arguments<AwsResources[T]>, meta?: BindingMeta) {
    super(scope, id, type, args, meta);
  }

  get arn(): string {
    return this.attribute("arn");
  }
}

export interface AwsDataSources {
  aws_ami: {
    readonly owners: readonly string[];
    readonly most_recent: boolean;
    readonly filter: readonly { readonly name: string; readonly values: readonly string[] }[];
  };
  aws_caller_identity: Record<never, never>;
  aws_partition: Record<never, never>;
  aws_route53_zone: { readonly name: string; readonly private_zone?: boolean; readonly vpc_id?: string };
}

/** Any data source of hashicorp/aws that we use. */
export class AwsDataSource<T extends keyof AwsDataSources> extends DataSource<AwsDataSources[T]> {
  constructor(scope: Construct, id: string, type: T, args: AwsDataSources[T], meta?: BindingMeta) {
    super(scope, id, type, args, meta);
  }

  attribute(name: string): string {
    return this.getStringAttribute(name);
  }
}
