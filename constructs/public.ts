// SPDX-License-Identifier: Apache-2.0
// What `import … from "talosmith/constructs"` gives: the constructs, and every type of their signatures. What the rest of
// talosmith needs besides is in index.ts. docs/api.md is made from this file; test/public-api.test.ts holds it together.
export type { NoCloudTemplates } from "../cloud-init/index.ts";
export type { Environment, Kind, Role } from "../model/index.ts";
export type {
  AirGap,
  DiskEncryption,
  EncryptionKey,
  Firewall,
  FirewallRule,
  PatchesByMachine,
} from "../model/settings/index.ts";
export type { Architecture, Platform, SchematicChoice } from "../talos/image/index.ts";
export {
  type AwsDnsProps,
  AwsInfrastructure,
  type AwsInfrastructureProps,
  type AwsPoolSettings,
  type ExistingVpc,
  type NewVpc,
} from "./aws/index.ts";
export {
  type AddonCredentials,
  type AddonProps,
  type BackupBucketProps,
  type BackupPkiProps,
  type BackupProps,
  type ClusterSettingProps,
  ControlPlane,
  type Infrastructure,
  type JoinedControlPlane,
  Machine,
  type MachineReference,
  type MachineRequest,
  MachineRows,
  type MachineSet,
  type MachineValue,
  Pool,
  type PoolOwner,
  type PoolProps,
  type PoolRequest,
  type PoolSettingProps,
  type RolloutProps,
  TalosCluster,
  type TalosClusterProps,
  WorkerPool,
} from "./cluster/index.ts";
export {
  type ContainerPoolSettings,
  type ContainerResources,
  DockerInfrastructure,
  type DockerInfrastructureProps,
  PodInfrastructure,
  type PodInfrastructureProps,
} from "./container/index.ts";
export { EnvironmentStack } from "./environment-stack.ts";
export { ConstructInputError } from "./errors.ts";
export {
  LibvirtInfrastructure,
  type LibvirtInfrastructureProps,
  type LibvirtNetworkProps,
  type LibvirtPoolSettings,
} from "./libvirt/index.ts";
export {
  type DiskSelectorProps,
  MetalInfrastructure,
  type MetalInfrastructureProps,
  type MetalMachineProps,
  type MetalNetworkProps,
} from "./metal/index.ts";
export { SimulatedInfrastructure } from "./simulated/index.ts";
export type { ClientFiles } from "./talosmith/bindings.ts";
export { type Addressable, type AttributeValue, type BindingMeta, TalosStack } from "./terraform/index.ts";
