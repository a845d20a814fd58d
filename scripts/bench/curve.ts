// SPDX-License-Identifier: Apache-2.0
import { lab, wish } from "../../test/talos/cluster/fixture.ts";
import { synthOf } from "./synth-growth.ts";

/** How the work grows with the number of machines. */
export interface Curve {
  readonly name: string;
  readonly points: readonly { readonly machines: number; readonly milliseconds: number }[];
}

const sizes = [10, 100, 1000] as const;

const old = { talos: "v1.12.11", kubernetes: "1.35.4" };
const kinds = ["synth", "bring-up", "plan without changes", "upgrade, 10 workers at once"] as const;

/** From 10 to 1,000 machines, of which three are control planes. */
export async function growthCurves(): Promise<readonly Curve[]> {
  const columns: number[][] = [];
  for (const machines of sizes) columns.push([await synthOf(machines - 3), ...(await engineWork(machines))]);
  return kinds.map((name, row) => ({
    name,
    points: sizes.map((machines, column) => ({ machines, milliseconds: columns[column]?.[row] ?? Number.NaN })),
  }));
}

/** Milliseconds of processor time for a bring-up, a plan that finds nothing to do, and an upgrade. */
async function engineWork(count: number): Promise<readonly number[]> {
  const names = (prefix: string, length: number) => Array.from({ length }, (_, index) => `${prefix}-${index + 1}`);
  const machines = { controlPlanes: names("cp", 3), workers: names("w", count - 3) };
  const made = lab(wish({ ...machines, ...old }));
  made.world.maxUnavailable = 10;
  for (const machine of made.world.machines.values()) machine.version = old.talos;
  const works = [
    () => made.apply(wish({ ...machines, ...old })),
    () => made.apply(wish({ ...machines, ...old })),
    () => made.apply(wish({ ...machines, ...old, talos: "v1.13.9" }), { policy: { maxUnavailable: 10 } }),
  ];
  const spent: number[] = [];
  for (const work of works) {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    spent.push((user + system) / 1000);
  }
  if (made.world.violations.length > 0) throw new Error(made.world.violations.join("; "));
  return spent;
}
