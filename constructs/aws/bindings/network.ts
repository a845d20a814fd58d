// SPDX-License-Identifier: Apache-2.0

type Tags = { readonly [key: string]: string };

export interface SecurityGroupRuleArguments {
  readonly security_group_id: string;
  readonly description: string;
  readonly ip_protocol: string;
  readonly from_port?: number;
  readonly to_port?: number;
  readonly cidr_ipv4?: string;
  readonly referenced_security_group_id?: string;
}

/** Arguments of the network resources of hashicorp/aws, as far as we use them. */
export interface NetworkResources {
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
  aws_eip: { readonly domain: "vpc"; readonly tags: Tags };
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
  aws_route53_zone: { readonly name: string; readonly tags: Tags };
  aws_route53_record: {
    readonly zone_id: string;
    readonly name: string;
    readonly type: "A";
    readonly alias: { readonly name: string; readonly zone_id: string; readonly evaluate_target_health: boolean };
  };
}
