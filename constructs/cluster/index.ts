// SPDX-License-Identifier: Apache-2.0
export type { BackupPkiProps, BackupProps } from "./day-two.ts";
export type { AddonRequest, Infrastructure, PoolRequest } from "./infrastructure.ts";
export {
  Machine,
  type MachineReference,
  type MachineRequest,
  MachineRows,
  type MachineSet,
  type MachineValue,
} from "./machine.ts";
export { ControlPlane, Pool, type PoolOwner, type PoolProps, WorkerPool } from "./pool.ts";
export type {
  AddonCredentials,
  AddonProps,
  BackupBucketProps,
  ClusterSettingProps,
  PoolSettingProps,
  RolloutProps,
} from "./setting-props.ts";
export { type JoinedControlPlane, TalosCluster, type TalosClusterProps } from "./talos-cluster.ts";
