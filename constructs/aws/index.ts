// SPDX-License-Identifier: Apache-2.0
export type { AwsAccountProps } from "./account.ts";
export { AwsInfrastructure } from "./aws-infrastructure.ts";
export type { AwsDnsProps } from "./dns.ts";
export type { AwsPolicyProps, AwsPolicyStatement, AwsRole, AwsRoleProps } from "./iam.ts";
export type { AwsListenerProps, AwsLoadBalancer } from "./load-balancer.ts";
export type { AwsSubnet, AwsSubnets, AwsVpc, ExistingVpc, NewVpc } from "./network.ts";
export type { AwsInfrastructureProps, AwsPoolSettings } from "./props.ts";
export type {
  AwsSecurityGroup,
  AwsSecurityGroups,
  AwsTrafficProps,
  SecurityRuleProps,
} from "./security-groups.ts";
