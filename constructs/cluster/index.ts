// SPDX-License-Identifier: Apache-2.0
export { addDayTwo, type DayTwo } from "./day-two.ts";
export type { Infrastructure, PoolRequest } from "./infrastructure.ts";
export { type BootMedium, Machine, type MachineRequest } from "./machine.ts";
export { ControlPlane, type PoolProps, WorkerPool } from "./pool.ts";
export type { MachinePool, PoolOwner } from "./pool-owner.ts";
export { type JoinedControlPlane, TalosCluster, type TalosClusterProps } from "./talos-cluster.ts";
