// SPDX-License-Identifier: Apache-2.0
import type { Definition } from "./definitions.ts";

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
| the backups have stopped | \`talosmith_cluster_condition{type="BackupFresh",status="True"} == 0\` |
| a certificate ends | \`talosmith_certificate_expiry_timestamp_seconds - time() < 14 * 86400\` |
| nobody looks any more | \`time() - talosmith_look_timestamp_seconds > 900\`, or \`sum(talosmith_leader) != 1\` |
`;
}
