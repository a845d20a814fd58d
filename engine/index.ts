// SPDX-License-Identifier: Apache-2.0

export { type ApplyOptions, type ApplyResult, applyCluster, awaitHealthy } from "./apply.ts";
export {
  bootstrapTarget,
  type ClusterSpec,
  type ConfigSource,
  type DesiredCluster,
  type DesiredMachine,
  type LeavingMachine,
  type MachineRole,
  type MachineSpec,
  withoutConfig,
} from "./desired.ts";
export { type DestroyOptions, type DestroyResult, destroyCluster } from "./destroy.ts";
export { type EngineOptions, fetchKubeconfig, kubeconfigFrom } from "./engine.ts";
export {
  type ClusterEvent,
  type EventListener,
  eventFileVariable,
  eventsTo,
  type Finding,
  parseEvent,
  rollVariable,
  type ToldEvent,
} from "./events.ts";
export { type WindowState, windowAt } from "./execute/gate.ts";
export { type GateCheck, gateCheck } from "./execute/gate-check.ts";
export { type Journal, type JournalEntry, journalFile, journalPath } from "./execute/journal.ts";
export { defaultTimeouts, sleepBy, systemTiming, type Timeouts, type Timing } from "./execute/timing.ts";
export { type WaitOptions, waitUntil } from "./execute/wait.ts";
export { type HardwareOrder, type HardwareWork, hardwareOrder, planHardwareWork, workOnHardware } from "./hardware.ts";
export { type CheckResult, checkHealth, type HealthOptions, type HealthReport } from "./health/health.ts";
export { type Unready, unreadyParts } from "./health/unready.ts";
export {
  type InCluster,
  inClusterAccess,
  isCertificateFault,
  type KubernetesApi,
  keptSecret,
  kubernetesApi,
  kubernetesLease,
  type Lease,
  type LeaseRecord,
  secretIn,
} from "./kubernetes/index.ts";
export { leaveCluster } from "./leave.ts";
export { lockFileFor, withLock } from "./lock/lock.ts";
export { holding } from "./lock/lock-file.ts";
export { type Claim, claimed, otherOwner, refuseLost, released } from "./lock/ownership.ts";
export { breakLock, checkOwner, type LockState, lockState, releaseOwner } from "./lock/unlock.ts";
export type { ClientPods, Kubernetes, MachineHealth, Machines, MachineTarget, Ownership } from "./machines.ts";
export { type Maintenance, maintainMachine, planMaintenance } from "./maintain.ts";
export { talosCredentials } from "./observe/credentials.ts";
export { inspectWithoutSecrets } from "./observe/inspect.ts";
export { inReadingOrder, type MachineView, machineView, stateOf } from "./observe/machine-view.ts";
export { type ObserveOptions, observe } from "./observe/observe.ts";
export {
  type FoundMachines,
  findPoolMachines,
  type PoolMachine,
  poolMachinesAmong,
  withPoolMachines,
} from "./observe/pool-machines.ts";
export { readerOf, type TalosMachinesOptions, talosMachines } from "./observe/talos-machines.ts";
export {
  type EtcdMember,
  type KubernetesNode,
  type MachineEtcd,
  type MachineStage,
  type MachineState,
  type ObservedCluster,
  type ObservedKubernetes,
  type ObservedMachine,
  schematicOf,
} from "./observed.ts";
export { componentImages, withRunningVersions } from "./plan/component-images.ts";
export { configFindings, refusesConfig } from "./plan/config-findings.ts";
export { readsUserData } from "./plan/first-contact.ts";
export { imageFindings } from "./plan/image-findings.ts";
export { immutableFindings } from "./plan/immutable.ts";
export { plan, planDestroy } from "./plan/plan.ts";
export { preflight, refuseErrors, versionConflicts } from "./plan/preflight.ts";
export { type Preview, previewCluster, recordedOwner, refusals } from "./plan/preview.ts";
export { refuseDestroy } from "./plan/protection.ts";
export { type EtcdView, etcdView, quorumOf } from "./plan/quorum.ts";
export { desiredCluster, outlineOf, type Renderable, Rendering } from "./plan/rendering.ts";
export {
  type Canary,
  defaultPolicy,
  type Gate,
  type Policy,
  unavailableLimit,
  usesKubernetes,
  type Window,
} from "./policy.ts";
export {
  deleteNodes,
  planRestore,
  previewRestore,
  type RestoreOptions,
  type RestorePlan,
  type RestoreResult,
  restoreCluster,
} from "./restore.ts";
export {
  planRotation,
  type RotateOptions,
  type RotationPass,
  rotateCas,
  rotationPasses,
} from "./rotate-ca.ts";
export { checkSnapshot, readSnapshot, SnapshotCheck, type SnapshotSummary } from "./snapshot-file.ts";
export {
  creationSteps,
  isRollback,
  type KubernetesComponent,
  type Step,
  type StepAction,
  type StepKind,
} from "./step.ts";
