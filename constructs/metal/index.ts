// SPDX-License-Identifier: Apache-2.0
export {
  type DiskSelectorProps,
  MetalInfrastructure,
  type MetalInfrastructureProps,
  type MetalMachineProps,
  type MetalNetworkProps,
} from "./metal-infrastructure.ts";
