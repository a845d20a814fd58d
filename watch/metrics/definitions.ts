// SPDX-License-Identifier: Apache-2.0

export interface Definition {
  readonly name: string;
  readonly type: "gauge" | "counter" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
}

const gauge = (name: string, help: string, labels: readonly string[] = []): Definition => {
  return { name, type: "gauge", help, labels };
};

const environment = ["environment"];
const machine = [...environment, "machine", "role"];

/** Every metric of `talosmith operate`; docs/metrics.md is made from it. */
export const definitions = [
  gauge("talosmith_build_info", "1, with the version that runs.", ["version"]),
  gauge("talosmith_leader", "1 while this process does the work, 0 while it stands by."),
  gauge("talosmith_environment_info", "1 for each environment that is watched, with what its file asks for.", [
    ...environment,
    "cluster",
    "kind",
    "talos_version",
    "kubernetes_version",
  ]),
  gauge("talosmith_environment_fault", "1 while the last look or repair has failed.", environment),
  gauge("talosmith_repair_allowed", "1 where differences are repaired, 0 where they are only reported.", environment),
  gauge("talosmith_look_timestamp_seconds", "When the machines were last checked with success.", environment),
  gauge("talosmith_cluster_condition", "1 for the status that each condition of the cluster has, 0 for the others.", [
    ...environment,
    "type",
    "status",
  ]),
  gauge("talosmith_machine_ready", "1 when Talos runs and the Kubernetes node is ready.", machine),
  gauge("talosmith_machine_reachable", "1 when the Talos API of the machine answers.", machine),
  gauge("talosmith_machine_info", "1 for each machine that answers, with what runs on it.", [
    ...machine,
    "stage",
    "talos_version",
    "kubelet_version",
  ]),
  gauge("talosmith_etcd_members", "Members of etcd, learners included.", environment),
  gauge("talosmith_etcd_healthy_members", "Voting members of etcd that are well.", environment),
  gauge("talosmith_etcd_quorum_members", "Voting members that etcd needs to go on.", environment),
  gauge("talosmith_etcd_has_quorum", "1 while etcd has quorum.", environment),
  gauge("talosmith_drift_steps", "Steps that would bring the machines to what the file says.", environment),
  gauge("talosmith_certificate_expiry_timestamp_seconds", "When a client file or CA ends.", [
    ...environment,
    "certificate",
  ]),
  gauge("talosmith_backup_age_seconds", "Age of the newest backup when it was last checked.", environment),
  gauge("talosmith_backup_size_bytes", "Size of the newest backup.", environment),
  gauge("talosmith_backup_next_timestamp_seconds", "When the next backup is due.", environment),
  {
    name: "talosmith_operation_duration_seconds",
    type: "histogram",
    help: "How long looks, repairs and backups took.",
    labels: [...environment, "operation", "outcome"],
  },
  gauge("talosmith_queue_depth", "Objects of the Kubernetes API that wait to be looked at.", ["kind"]),
  gauge("talosmith_queue_working", "Objects of the Kubernetes API that are worked on.", ["kind"]),
  {
    name: "talosmith_queue_adds_total",
    type: "counter",
    help: "How often an object of the Kubernetes API was put into the queue.",
    labels: ["kind"],
  },
  {
    name: "talosmith_queue_retries_total",
    type: "counter",
    help: "How often work on an object of the Kubernetes API has failed and was put off.",
    labels: ["kind"],
  },
  gauge("process_resident_memory_bytes", "Memory of this process."),
  gauge("process_start_time_seconds", "When this process was started."),
  { name: "process_cpu_seconds_total", type: "counter", help: "Processor time of this process.", labels: [] },
] as const satisfies readonly Definition[];

export type MetricName = (typeof definitions)[number]["name"];

/** docs/metrics.md. */
export function metricsPage(definitions: readonly Definition[]): string {
  const rows = definitions.map(({ name, type, help, labels }) => {
    const named = labels.map((label) => `\`${label}\``).join(", ");
    return `| \`${name}\` | ${type} | ${named === "" ? "–" : named} | ${help} |`;
  });
  return `# Metrics of \`talosmith operate\`

At \`/metrics\`, in Prometheus' text format. Made by \`npm run generate:metrics\` from the definitions in \`watch/metrics\`: change those, not
this page. Times are seconds since 1970. A standby of a [pair](operate.md#in-a-cluster) has \`talosmith_leader\` 0 and no clusters to tell of.

| metric | type | labels | what it tells |
|---|---|---|---|
${rows.join("\n")}

## Alerts worth having

| when | expression |
|---|---|
| a cluster is not well | \`talosmith_cluster_condition{type="Ready",status="True"} == 0\` |
| etcd is one failure from its end | \`talosmith_etcd_healthy_members <= talosmith_etcd_quorum_members\` |
| nobody repairs a difference | \`talosmith_cluster_condition{type="Drifted",status="True"} == 1\` for an hour |
| the backups have stopped | \`talosmith_cluster_condition{type="BackupRecent",status="True"} == 0\` |
| a certificate ends | \`talosmith_certificate_expiry_timestamp_seconds - time() < 14 * 86400\` |
| nobody looks any more | \`time() - talosmith_look_timestamp_seconds > 900\`, or \`sum(talosmith_leader) != 1\` |
`;
}

export interface Sample {
  readonly metric: string;
  /** What is added to the metric's name: histograms have several. */
  readonly suffix?: "_bucket" | "_sum" | "_count";
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export const contentType = "text/plain; version=0.0.4; charset=utf-8";

/** Prometheus' text format, version 0.0.4. Metrics without a sample are left out. */
export function expose(definitions: readonly Definition[], samples: readonly Sample[]): string {
  return definitions
    .flatMap(({ name, type, help }) => {
      const own = samples.filter(({ metric }) => metric === name);
      if (own.length === 0) return [];
      return [`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type}`, ...own.map(lineOf)];
    })
    .map((line) => `${line}\n`)
    .join("");
}

function lineOf({ metric, suffix, labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text).replaceAll('"', '\\"')}"`);
  return `${metric}${suffix ?? ""}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}
