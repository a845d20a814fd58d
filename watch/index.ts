// SPDX-License-Identifier: Apache-2.0

export { conditionsNow, encodeConditions, parseConditions } from "./condition-file.ts";
export {
  type Condition,
  type Conditions,
  conditionText,
  type Finding,
  isGood,
  withTransitions,
} from "./conditions.ts";
export { needsPerson, refusalOf, retryDelay, verdictOn, withJitter } from "./decide.ts";
export { etcdFacts, findingsOf } from "./findings.ts";
export { mayTake, sight, whileLeading } from "./leader.ts";
export type { Log, LogEntry } from "./log.ts";
export { collect, type QueueCounts } from "./metrics/collect.ts";
export { definitions, expose, metricsPage } from "./metrics/definitions.ts";
export { type ClusterObservation, closedWindow, observeCluster } from "./observe-cluster.ts";
export { operateAll } from "./operate.ts";
export { clusterOpener, observedFiles, openWatchedProject, type WatchedProject } from "./project.ts";
export { type RunningServer, serveOperator } from "./server.ts";
export { StatusRecord } from "./status-record.ts";
export { ClusterWatcher, type Observed, watchAll } from "./watcher.ts";
