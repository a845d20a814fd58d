// SPDX-License-Identifier: Apache-2.0
export { AwsInfrastructure, type AwsInfrastructureProps, type AwsPoolSettings, Ec2Machine } from "./aws/index.ts";
export { backendKey, stateFile } from "./backend.ts";
export {
  type BootMedium,
  ControlPlane,
  type Infrastructure,
  type JoinedControlPlane,
  Machine,
  type MachineRequest,
  type PoolProps,
  type PoolRequest,
  TalosCluster,
  type TalosClusterProps,
  WorkerPool,
} from "./cluster/index.ts";
export {
  type ContainerPoolSettings,
  DockerInfrastructure,
  type DockerInfrastructureProps,
  DockerMachine,
  PodInfrastructure,
  type PodInfrastructureProps,
  PodMachine,
} from "./container/index.ts";
export { EnvironmentStack } from "./environment-stack.ts";
export { ConstructAssumptionError, ConstructInputError } from "./errors.ts";
export { type HclOptions, type JsonObject, printStack, writtenByTalosmith } from "./hcl/index.ts";
export {
  LibvirtInfrastructure,
  type LibvirtInfrastructureProps,
  LibvirtMachine,
  type LibvirtPoolSettings,
} from "./libvirt/index.ts";
export {
  MetalInfrastructure,
  type MetalInfrastructureProps,
  MetalMachine,
  type MetalMachineProps,
} from "./metal/index.ts";
export { SimulatedInfrastructure, SimulatedMachine } from "./simulated/index.ts";
export { encryptionFile, encryptionFileName } from "./state-encryption.ts";
export {
  type SynthesizedStack,
  type SynthFailure,
  type SynthOptions,
  type SynthResult,
  synthesize,
} from "./synthesize.ts";
export { talosmithProvider } from "./talosmith/index.ts";
export { TalosStack } from "./terraform/index.ts";
export { writeWhole } from "./write-whole.ts";
