// SPDX-License-Identifier: Apache-2.0
export { AwsInfrastructure, type AwsInfrastructureProps, type AwsPoolSettings } from "./aws-infrastructure.ts";
export { Ec2Machine } from "./ec2-machine.ts";
export type { VpcProps } from "./network.ts";
