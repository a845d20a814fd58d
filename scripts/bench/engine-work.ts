// SPDX-License-Identifier: Apache-2.0
// Prints, for each number of machines that it is given, how much processor time the engine needs for a bring-up, a plan
// that finds nothing to do, and an upgrade, in a world without network. Milliseconds, as JSON.
import type { DesiredCluster } from "../../engine/index.ts";
import { defaultPolicy } from "../../engine/policy.ts";
import { MachineConfig } from "../../talos/config/index.ts";
import { lab, type Wish, wish } from "../../test/engine/fixture.ts";

const old = { talos: "v1.12.11", kubernetes: "1.35.4" };

const sizes = process.argv.slice(2).map(Number);
const columns: (readonly number[])[] = [];
for (const size of sizes) columns.push(await leastWork(size));
console.log(JSON.stringify(columns));

/** Of several runs: what it can do when nothing else disturbs it and all is compiled. */
async function leastWork(machines: number): Promise<readonly number[]> {
  const runs: (readonly number[])[] = [];
  for (let run = 0; run < 3; run++) runs.push(await engineWork(machines));
  return (runs[0] ?? []).map((_, kind) => Math.min(...runs.map((work) => work[kind] ?? Number.NaN)));
}

async function engineWork(count: number): Promise<readonly number[]> {
  const names = (prefix: string, length: number) => Array.from({ length }, (_, index) => `${prefix}-${index + 1}`);
  const machines = { controlPlanes: names("cp", 3), workers: names("w", count - 3) };
  const first = asGenerated({ ...machines, ...old });
  const again = asGenerated({ ...machines, ...old });
  const newer = asGenerated({ ...machines, ...old, talos: "v1.13.9" });
  const made = lab(first);
  made.world.maxUnavailable = 10;
  for (const machine of made.world.machines.values()) machine.version = old.talos;
  const steps = [
    () => made.apply(first),
    () => made.apply(again),
    () => made.apply(newer, { policy: { ...defaultPolicy, maxUnavailable: 10 } }),
  ];
  const spent: number[] = [];
  for (const step of steps) {
    const before = process.cpuUsage();
    await step();
    const { user, system } = process.cpuUsage(before);
    spent.push((user + system) / 1000);
  }
  if (made.world.violations.length > 0) throw new Error(made.world.violations.join("; "));
  return spent;
}

/** With configs that were never text, as the product has them: reading texts is no work of the engine. */
function asGenerated(options: Wish): DesiredCluster {
  const cluster = wish(options);
  const machines = cluster.machines.map((machine) => {
    const { config } = machine;
    return { ...machine, config: MachineConfig.of(config.decode(), config.rules) };
  });
  return { ...cluster, machines };
}
