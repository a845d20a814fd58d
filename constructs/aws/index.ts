// SPDX-License-Identifier: Apache-2.0
export { AwsInfrastructure, type AwsInfrastructureProps, type AwsPoolSettings } from "./aws-infrastructure.ts";
export type { AwsDnsProps } from "./dns.ts";
export type { ExistingVpc, NewVpc } from "./network.ts";
