// SPDX-License-Identifier: Apache-2.0
export { Book } from "./book.ts";
export { type Condition, type ConditionStatus, type Conditions, withTransitions } from "./condition.ts";
export { encodeConditions, parseConditions } from "./condition-record.ts";
export { retryDelay, type Verdict, verdictOn, withJitter } from "./decide.ts";
export { findingsOf } from "./findings.ts";
export {
  type LeaderOptions,
  type LeaseTimes,
  mayTake,
  type Sighting,
  sight,
  whileLeading,
} from "./leader.ts";
export { kubernetesLease, type Lease, type LeaseRecord } from "./lease.ts";
export type { Log, LogEntry } from "./log.ts";
export type { BackupFacts, CertificateFacts, ClusterLook } from "./look.ts";
export { collect, type ProcessFacts } from "./metrics/collect.ts";
export { definitions } from "./metrics/definitions.ts";
export { metricsPage } from "./metrics/docs.ts";
export { expose, type Sample } from "./metrics/exposition.ts";
export { type OperateOptions, operateAll } from "./operate.ts";
export { type RunningServer, type ServerOptions, serveOperator } from "./server.ts";
export type { BackupTaken, Site } from "./site.ts";
