// SPDX-License-Identifier: Apache-2.0
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { backupMemory } from "./bench/backup-memory.ts";
import { bringUp, bringUpGrowth, bringUpProfile } from "./bench/bring-up.ts";
import { growthCurves, growthRows } from "./bench/curve.ts";
import { idleNodes } from "./bench/idle-nodes.ts";
import { iso } from "./bench/iso.ts";
import { machineConfigs } from "./bench/machine-configs.ts";
import { noOpPlan, noOpPlanProfile } from "./bench/no-op-plan.ts";
import type { Profile } from "./bench/profile.ts";
import { providerMemory } from "./bench/provider-memory.ts";
import { providerStart } from "./bench/provider-start.ts";
import { curveTable, lineOf, markdownOf, profileTable, type Result, resultOf, tableHead } from "./bench/report.ts";
import type { Row } from "./bench/row.ts";
import { smallResources } from "./bench/small-resources.ts";
import { synthGrowth, synthProfile } from "./bench/synth-growth.ts";
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
  ...growthRows,
];
const arguments_ = process.argv.slice(2);
const write = arguments_.includes("--write");
const profile = write || arguments_.includes("--profile");
const only = arguments_.find((argument) => !argument.startsWith("--"));
if (write && only !== undefined) throw new Error("--write is for a whole run; leave the word out");
const chosen = rows.filter(({ name }) => only === undefined || name.includes(only));
const machine = `${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}`;
console.log(`${machine}\n`);
const results: Result[] = [];
if (chosen.length > 0) console.log(tableHead);
for (const row of chosen) {
  // One row that fails must not cost the figures of the others.
  const measured = await row
    .measure()
    .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
  if (measured instanceof Error) console.error(measured);
  const result = resultOf(row, measured);
  results.push(result);
  console.log(lineOf(result));
}
const curves = only === undefined || "growth curve".includes(only) ? await growthCurves() : [];
if (curves.length > 0) console.log(`\n${curveTable(curves)}`);
const profilers = [synthProfile, noOpPlanProfile, bringUpProfile];
const profiles: Profile[] = [];
if (profile) for (const measure of profilers) profiles.push(...[(await measure()) ?? []].flat());
if (profile) console.log(`\n${profileTable(profiles)}`);
if (write) {
  const report = { date: new Date().toISOString().slice(0, 10), machine, results, curves, profiles };
  const file = (name: string) => new URL(`../docs/${name}`, import.meta.url);
  writeFileSync(file("benchmarks.md"), markdownOf(report));
  writeFileSync(file("benchmarks.json"), `${JSON.stringify(report, undefined, 2)}\n`);
}
process.exitCode = results.some(({ verdict }) => verdict === "OVER" || verdict === "FAILED") ? 1 : 0;
