// SPDX-License-Identifier: Apache-2.0
// Tests the tests: `npm run mutate [-- target …]` changes the code of each target in hundreds of small ways and tells which
// changes no test notices. Stryker is installed in scripts/mutation/ only, so that neither users nor `npm ci` carry it.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mutationRow, mutationTableHead } from "./mutation-table.ts";
import { type MutationTarget, mutationTargets } from "./mutation-targets.ts";

const root = join(import.meta.dirname, "..");
const home = join(root, "scripts", "mutation");
const stryker = join(home, "node_modules/@stryker-mutator/core/bin/stryker.js");
const runner = join(home, "node_modules/@stryker-mutator/vitest-runner/dist/src/index.js");
const leastScore = 80;

const incremental = process.argv.includes("--incremental");
const names = process.argv.slice(2).filter((word) => word !== "--incremental");
const unknown = names.find((name) => !mutationTargets.some((target) => target.name === name));
if (unknown !== undefined) {
  console.error(`${unknown}: no such target; there are ${mutationTargets.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}
if (!existsSync(stryker) || !existsSync(runner)) {
  console.log("Stryker is not there yet; it is installed in scripts/mutation/ now.");
  const install = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: home,
    stdio: "inherit",
  });
  if (install.status !== 0) {
    console.error("Stryker could not be installed: run npm ci in scripts/mutation/ where the registry can be reached.");
    process.exit(1);
  }
}

const failed: string[] = [];
const rows: string[] = [];
for (const target of mutationTargets.filter(({ name }) => names.length === 0 || names.includes(name))) {
  const folder = join("dist/mutation", target.name);
  const report = join(folder, "mutation.json");
  if (!run(target, folder)) failed.push(target.name);
  if (existsSync(join(root, report)))
    rows.push(mutationRow(target.name, JSON.parse(readFileSync(join(root, report), "utf8"))));
}
console.log(`\n${[...mutationTableHead, ...rows].join("\n")}\n\nEach survivor: dist/mutation/<target>/mutation.html`);
if (failed.length > 0) {
  console.error(`Fewer than ${leastScore} % noticed, or no run at all: ${failed.join(", ")}`);
  process.exit(1);
}

function run(target: MutationTarget, folder: string): boolean {
  mkdirSync(join(root, folder), { recursive: true });
  const config = join(folder, "stryker.json");
  writeFileSync(join(root, config), JSON.stringify(configOf(target, folder), undefined, 2));
  const env = { ...process.env, TALOSMITH_MUTATE: target.name };
  return spawnSync(process.execPath, [stryker, "run", config], { cwd: root, stdio: "inherit", env }).status === 0;
}

function configOf({ sources }: MutationTarget, folder: string): object {
  return {
    mutate: sources,
    testRunner: "vitest",
    plugins: [runner],
    vitest: { configFile: "scripts/mutation/vitest.config.ts", related: false },
    // What no test of a target reads need not be copied; tsconfig.json would be rewritten by an API that TypeScript 7 lacks.
    ignorePatterns: [
      ...["/dist", "/docs", "/examples", "/scripts/site", "/web", "/tsconfig.json", "/scripts/mutation/node_modules"],
      // What commands have written: clusters of a developer's own, and folders behind links, which can't be copied.
      ...["/backups", "/cdktf.out", "/generated", "/secrets", "/state", "/test-artifacts"],
    ],
    tempDirName: "dist/mutation/sandbox",
    concurrency: 2,
    // On a crowded machine every run is slow; real loops are found by counting long before this.
    timeoutMS: 60_000,
    incremental,
    incrementalFile: join(folder, "incremental.json"),
    thresholds: { high: 90, low: leastScore, break: leastScore },
    reporters: ["clear-text", "html", "json", "progress-append-only"],
    clearTextReporter: { allowColor: false, reportTests: false },
    htmlReporter: { fileName: join(folder, "mutation.html") },
    jsonReporter: { fileName: join(folder, "mutation.json") },
  };
}
