// SPDX-License-Identifier: Apache-2.0

export { conditionsNow, encodeConditions, parseConditions } from "./condition-file.ts";
export {
  type Condition,
  type ConditionStatus,
  type Conditions,
  conditionText,
  isGood,
  withTransitions,
} from "./conditions.ts";
export { retryDelay, type Verdict, verdictOn, withJitter } from "./decide.ts";
export { etcdFacts, findingsOf } from "./findings.ts";
export {
  kubernetesLease,
  type LeaderOptions,
  type Lease,
  type LeaseRecord,
  type LeaseTimes,
  mayTake,
  type Sighting,
  sight,
  whileLeading,
} from "./leader.ts";
export type { Log, LogEntry } from "./log.ts";
export { collect, type ProcessFacts } from "./metrics/collect.ts";
export { definitions, expose, metricsPage, type Sample } from "./metrics/definitions.ts";
export { type ClusterObservation, observeCluster } from "./observe-cluster.ts";
export { type OperateOptions, operateAll } from "./operate.ts";
export { clusterOpener, observedFiles, openWatchedProject, type WatchedProject } from "./project.ts";
export { type RunningServer, type ServerOptions, serveOperator } from "./server.ts";
export { StatusRecord } from "./status-record.ts";
export { ClusterWatcher, type Observed, watchAll } from "./watcher.ts";
