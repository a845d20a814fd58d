// SPDX-License-Identifier: Apache-2.0
export {
  MetalInfrastructure,
  type MetalInfrastructureProps,
  MetalMachine,
  type MetalMachineProps,
} from "./metal-infrastructure.ts";
