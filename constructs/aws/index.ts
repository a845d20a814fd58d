// SPDX-License-Identifier: Apache-2.0
export type { AwsAccountProps } from "./account.ts";
export { AwsInfrastructure, type AwsInfrastructureProps, type AwsPoolSettings } from "./aws-infrastructure.ts";
export type { AwsDnsProps } from "./dns.ts";
export type { AwsRoleProps } from "./iam.ts";
export type { ExistingVpc, NewVpc } from "./network.ts";
export type { SecurityRuleProps } from "./security-groups.ts";
