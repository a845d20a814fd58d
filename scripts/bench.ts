// SPDX-License-Identifier: Apache-2.0
import { cpus } from "node:os";
import { backupMemory } from "./bench/backup-memory.ts";
import { bringUp, bringUpGrowth } from "./bench/bring-up.ts";
import { idleNodes } from "./bench/idle-nodes.ts";
import { iso } from "./bench/iso.ts";
import { machineConfigs } from "./bench/machine-configs.ts";
import { noOpPlan } from "./bench/no-op-plan.ts";
import { providerMemory } from "./bench/provider-memory.ts";
import { providerStart } from "./bench/provider-start.ts";
import type { Row } from "./bench/row.ts";
import { smallResources } from "./bench/small-resources.ts";
import { synthGrowth } from "./bench/synth-growth.ts";
import { synthStockCli } from "./bench/synth-stock-cli.ts";
import { upgradeLarge } from "./bench/upgrade.ts";

for (const name of ["NODE_EXTRA_CA_CERTS", "TF_CLI_CONFIG_FILE"]) delete process.env[name];

const rows: readonly Row[] = [
  providerStart,
  providerMemory,
  smallResources,
  noOpPlan,
  machineConfigs,
  synthStockCli,
  synthGrowth,
  iso,
  bringUp,
  bringUpGrowth,
  idleNodes,
  ...backupMemory,
  upgradeLarge,
];
const only = process.argv[2];
console.log(`${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}\n`);
console.log("| what | ours | anchor | ratio | budget | |\n|---|---|---|---|---|---|");
let overBudget = 0;
for (const row of rows.filter(({ name }) => only === undefined || name.includes(only))) {
  const { ours, anchor, unit, note } = await row.measure();
  const value = (number: number) => `${number < 10 ? number.toFixed(2) : Math.round(number)} ${unit}`;
  const ratio = anchor === undefined ? undefined : ours / anchor;
  const kept = ratio === undefined ? "SKIPPED: anchor not installed" : ratio <= row.budget ? "kept" : "OVER";
  if (kept === "OVER") overBudget += 1;
  const theirs = anchor === undefined ? "–" : value(anchor);
  const remark = note === undefined ? kept : `${kept}; ${note}`;
  console.log(
    `| ${row.name} | ${value(ours)} | ${theirs} (${row.anchor}) | ${ratio?.toFixed(3) ?? "–"} | ≤ ${row.budget} | ${remark} |`,
  );
}
process.exitCode = overBudget === 0 ? 0 : 1;
