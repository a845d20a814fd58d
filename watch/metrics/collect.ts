// SPDX-License-Identifier: Apache-2.0
import type { Condition } from "../conditions.ts";
import { etcdFacts } from "../findings.ts";
import type { ClusterObservation } from "../observe-cluster.ts";
import { durationBuckets, type Entry, type StatusRecord, type Timed } from "../status-record.ts";
import type { Observed } from "../watcher.ts";
import type { MetricName, Sample } from "./definitions.ts";

export interface ProcessFacts {
  readonly version: string;
  readonly residentBytes: number;
  /** Milliseconds. */
  readonly startedAt: number;
  readonly cpuSeconds: number;
  /** By kind of object, where objects of the Kubernetes API are operated. @default - none */
  readonly queues?: ReadonlyMap<string, QueueCounts>;
}

export interface QueueCounts {
  readonly depth: number;
  readonly working: number;
  readonly added: number;
  readonly retried: number;
}

/** None of what is not known. */
function sample(
  metric: MetricName,
  value: number | boolean | undefined,
  labels: Sample["labels"] = {},
): readonly Sample[] {
  return value === undefined ? [] : [{ metric, labels, value: Number(value) }];
}

/** Everything that the record knows, as samples. */
export function collect(
  record: StatusRecord,
  { version, residentBytes, startedAt, cpuSeconds, queues = new Map() }: ProcessFacts,
): readonly Sample[] {
  return [
    sample("talosmith_build_info", 1, { version }),
    sample("talosmith_leader", record.leading),
    [...record.entries].flatMap(([name, entry]) => ofEnvironment(name, entry)),
    record.timed.flatMap(histogram),
    [...queues].flatMap(([kind, counts]) => ofQueue(kind, counts)),
    sample("process_resident_memory_bytes", residentBytes),
    sample("process_start_time_seconds", startedAt / 1000),
    sample("process_cpu_seconds_total", cpuSeconds),
  ].flat();
}

function ofQueue(kind: string, { depth, working, added, retried }: QueueCounts): readonly Sample[] {
  return [
    sample("talosmith_queue_depth", depth, { kind }),
    sample("talosmith_queue_working", working, { kind }),
    sample("talosmith_queue_adds_total", added, { kind }),
    sample("talosmith_queue_retries_total", retried, { kind }),
  ].flat();
}

function ofEnvironment(name: string, entry: Entry): readonly Sample[] {
  const environment = { environment: name };
  const { environment: file, observed, fault, nextBackup, repairAllowed } = entry;
  const info = file && {
    ...environment,
    cluster: file.cluster.name,
    kind: file.kind,
    talos_version: file.cluster.talosVersion,
    kubernetes_version: file.cluster.kubernetesVersion,
  };
  return [
    sample("talosmith_environment_info", info && 1, info),
    sample("talosmith_environment_fault", fault !== undefined, environment),
    sample("talosmith_repair_allowed", repairAllowed === true, environment),
    observed === undefined ? [] : ofObserved(name, observed),
    sample("talosmith_backup_next_timestamp_seconds", nextBackup && nextBackup / 1000, environment),
  ].flat();
}

function ofObserved(environment: string, observed: Observed): readonly Sample[] {
  const { at, conditions, observation } = observed;
  return [
    sample("talosmith_look_timestamp_seconds", at.getTime() / 1000, { environment }),
    conditions.cluster.flatMap((condition) => conditionSamples(condition, environment)),
    ofMachines(environment, observed),
    ofCluster(environment, observation),
  ].flat();
}

function conditionSamples({ type, status: found }: Condition, environment: string): readonly Sample[] {
  return (["True", "False", "Unknown"] as const).flatMap((status) =>
    sample("talosmith_cluster_condition", status === found, { environment, type, status }),
  );
}

function ofMachines(
  environment: string,
  { observation: { machines, observed }, conditions }: Observed,
): readonly Sample[] {
  const nodes = observed.kubernetes.kind === "reachable" ? observed.kubernetes.nodes : [];
  return machines.flatMap(({ name, role }) => {
    const labels = { environment, machine: name, role };
    const is = (type: string) =>
      conditions.machines[name]?.some((condition) => condition.type === type && condition.status === "True") ?? false;
    const state = observed.machines.get(name)?.state;
    const node = nodes.find((candidate) => candidate.name === name);
    const own = [
      sample("talosmith_machine_ready", is("Ready"), labels),
      sample("talosmith_machine_reachable", is("Reachable"), labels),
    ];
    if (state?.kind !== "configured") return own.flat();
    const { stage, talosVersion: talos_version } = state;
    const info = { ...labels, stage, talos_version, kubelet_version: node?.kubeletVersion ?? "" };
    return [...own, sample("talosmith_machine_info", 1, info)].flat();
  });
}

function ofCluster(name: string, { observed, steps, certificates, backup }: ClusterObservation): readonly Sample[] {
  const environment = { environment: name };
  const etcd = etcdFacts(observed);
  return [
    sample("talosmith_etcd_members", etcd?.members.length, environment),
    sample("talosmith_etcd_healthy_members", etcd?.healthy, environment),
    sample("talosmith_etcd_quorum_members", etcd?.quorum, environment),
    sample("talosmith_etcd_has_quorum", etcd !== undefined && etcd.healthy >= etcd.quorum, environment),
    sample("talosmith_drift_steps", steps.length, environment),
    certificates.flatMap(({ name: certificate, expiresAt }) => {
      const labels = { ...environment, certificate };
      return sample("talosmith_certificate_expiry_timestamp_seconds", expiresAt.getTime() / 1000, labels);
    }),
    sample("talosmith_backup_age_seconds", backup?.ageSeconds, environment),
    sample("talosmith_backup_size_bytes", backup?.bytes, environment),
  ].flat();
}

function histogram({ environment, operation, outcome, count, seconds, buckets }: Timed): readonly Sample[] {
  const metric: MetricName = "talosmith_operation_duration_seconds";
  const labels = { environment, operation, outcome };
  const bucket = (le: string, value: number): Sample => ({
    metric,
    suffix: "_bucket",
    labels: { ...labels, le },
    value,
  });
  return [
    ...durationBuckets.map((end, i) => bucket(String(end), buckets[i] ?? 0)),
    bucket("+Inf", count),
    { metric, suffix: "_sum", labels, value: seconds },
    { metric, suffix: "_count", labels, value: count },
  ];
}
