// SPDX-License-Identifier: Apache-2.0
export {
  type AwsDnsProps,
  AwsInfrastructure,
  type AwsInfrastructureProps,
  type AwsPoolSettings,
} from "./aws-infrastructure.ts";
export type { ExistingVpc, NewVpc } from "./network.ts";
