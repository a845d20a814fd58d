// SPDX-License-Identifier: Apache-2.0
export { activeDifferences } from "./active-differences.ts";
export { type ApplyOptions, type ApplyResult, applyCluster, awaitHealthy } from "./apply.ts";
export { checkOwner, releaseOwner } from "./claim-check.ts";
export { fetchKubeconfig } from "./client-files.ts";
export {
  bootstrapTarget,
  type ClusterSpec,
  type DesiredCluster,
  type DesiredMachine,
  type LeavingMachine,
  type MachineRole,
  type MachineSpec,
} from "./desired.ts";
export { type DestroyOptions, type DestroyResult, destroyCluster } from "./destroy.ts";
export type { EngineOptions } from "./engine.ts";
export { eventFileVariable, eventsTo, parseEvent, type ToldEvent } from "./event-file.ts";
export type { ClusterEvent, EventListener } from "./events.ts";
export type { Finding } from "./finding.ts";
export { type GateCheck, gateCheck } from "./gate-check.ts";
export { checkHealth, type HealthCondition, type HealthOptions, type HealthReport } from "./health.ts";
export { immutableFindings } from "./immutable.ts";
export { inspectWithoutSecrets } from "./inspect.ts";
export { type Journal, type JournalEntry, journalFile } from "./journal.ts";
export {
  type InCluster,
  inClusterAccess,
  isCertificateFault,
  type KubernetesApi,
  keptSecret,
  kubernetesApi,
} from "./kubernetes/index.ts";
export { leaveCluster } from "./leave.ts";
export { lockFileFor, withLock } from "./lock.ts";
export { inReadingOrder, type MachineView, machineView, stateOf } from "./machine-view.ts";
export type { Kubernetes, MachineHealth, Machines, MachineTarget, Ownership } from "./machines.ts";
export { type Maintenance, maintainMachine, planMaintenance } from "./maintain.ts";
export { makingSteps } from "./making-step.ts";
export { type ObserveOptions, observe } from "./observe.ts";
export type {
  EtcdMember,
  KubernetesNode,
  MachineEtcd,
  MachineStage,
  MachineState,
  ObservedCluster,
  ObservedKubernetes,
  ObservedMachine,
} from "./observed.ts";
export { type Claim, claimed, otherOwner, refuseLost, released } from "./ownership.ts";
export { plan, planDestroy } from "./plan.ts";
export { type Canary, defaultPolicy, type Gate, type Policy, unavailableLimit, type Window } from "./policy.ts";
export { preflight, refuseErrors } from "./preflight.ts";
export { type Preview, previewCluster, refusals } from "./preview.ts";
export { refuseDestroy } from "./protection.ts";
export { type EtcdView, etcdView, quorumOf } from "./quorum.ts";
export { desiredCluster, type Renderable, Rendering } from "./rendering.ts";
export { planRestore, type RestoreOptions, restoreCluster } from "./restore.ts";
export {
  planRotation,
  type RotateOptions,
  type RotationPass,
  rotateCas,
  rotationPasses,
} from "./rotate-ca.ts";
export { schematicOf } from "./schematic.ts";
export { checkSnapshot, readSnapshot, SnapshotCheck, type SnapshotSummary } from "./snapshot-file.ts";
export { isRollback, type KubernetesComponent, type Step, type StepAction, type StepKind } from "./step.ts";
export { readerOf, type TalosMachinesOptions, talosMachines } from "./talos-machines.ts";
export { defaultTimeouts, type Timeouts } from "./timeouts.ts";
export { sleepBy, systemTiming, type Timing } from "./timing.ts";
export { breakLock, type LockState, lockState } from "./unlock.ts";
export { type WaitOptions, waitUntil } from "./wait.ts";
export { type WindowState, windowAt } from "./window.ts";
