// SPDX-License-Identifier: Apache-2.0

export interface Definition {
  readonly name: string;
  readonly type: "gauge" | "counter" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
}

const gauge = (name: string, help: string, ...labels: string[]): Definition => ({ name, type: "gauge", help, labels });

/** Every metric of `talosmith operate`; docs/metrics.md is made from it. */
export const definitions = [
  gauge("talosmith_build_info", "1, with the version that runs.", "version"),
  gauge("talosmith_leader", "1 while this process does the work, 0 while it stands by."),
  gauge(
    "talosmith_environment_info",
    "1 for each environment that is watched, with what its file asks for.",
    "environment",
    "cluster",
    "kind",
    "talos_version",
    "kubernetes_version",
  ),
  gauge("talosmith_environment_fault", "1 while the last look or repair has failed.", "environment"),
  gauge("talosmith_repair_allowed", "1 where differences are repaired, 0 where they are only reported.", "environment"),
  gauge("talosmith_look_timestamp_seconds", "When the machines were last looked at with success.", "environment"),
  gauge(
    "talosmith_cluster_condition",
    "1 for the status that each condition of the cluster has, 0 for the others.",
    "environment",
    "type",
    "status",
  ),
  gauge(
    "talosmith_machine_ready",
    "1 when Talos runs and the Kubernetes node is ready.",
    "environment",
    "machine",
    "role",
  ),
  gauge(
    "talosmith_machine_reachable",
    "1 when the Talos API of the machine answers.",
    "environment",
    "machine",
    "role",
  ),
  gauge(
    "talosmith_machine_info",
    "1 for each machine that answers, with what runs on it.",
    "environment",
    "machine",
    "role",
    "stage",
    "talos_version",
    "kubelet_version",
  ),
  gauge("talosmith_etcd_members", "Members of etcd, learners included.", "environment"),
  gauge("talosmith_etcd_healthy_members", "Voting members of etcd that are well.", "environment"),
  gauge("talosmith_etcd_quorum_members", "Voting members that etcd needs to go on.", "environment"),
  gauge("talosmith_etcd_has_quorum", "1 while enough members are well.", "environment"),
  gauge("talosmith_drift_steps", "Steps that would bring the machines to what the file says.", "environment"),
  gauge(
    "talosmith_certificate_expiry_timestamp_seconds",
    "When a client file or CA ends.",
    "environment",
    "certificate",
  ),
  gauge("talosmith_backup_age_seconds", "Age of the newest backup when it was last looked at.", "environment"),
  gauge("talosmith_backup_size_bytes", "Size of the newest backup.", "environment"),
  gauge("talosmith_backup_next_timestamp_seconds", "When the next backup is due.", "environment"),
  {
    name: "talosmith_operation_duration_seconds",
    type: "histogram",
    help: "How long looks, repairs and backups took.",
    labels: ["environment", "operation", "outcome"],
  },
  gauge("process_resident_memory_bytes", "Memory of this process."),
  gauge("process_start_time_seconds", "When this process was started."),
  { name: "process_cpu_seconds_total", type: "counter", help: "Processor time of this process.", labels: [] },
] as const satisfies readonly Definition[];

export type MetricName = (typeof definitions)[number]["name"];
