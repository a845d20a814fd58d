// SPDX-License-Identifier: Apache-2.0
import { lab, wish } from "../../test/talos/cluster/fixture.ts";
import type { Row } from "./row.ts";
import { synthOf } from "./synth-growth.ts";

/** How the work grows with the number of machines. */
export interface Curve {
  readonly name: string;
  readonly points: readonly { readonly machines: number; readonly milliseconds: number }[];
}

const sizes = [10, 100, 1000] as const;

/** The work of the engine, least of several runs: what it can do when nothing else disturbs it and all is compiled. */
const runsOf = (machines: number) => (machines < 1000 ? 3 : 2);

const old = { talos: "v1.12.11", kubernetes: "1.35.4" };
const kinds = ["synth", "bring-up", "plan without changes", "upgrade, 10 workers at once"] as const;

let measured: Promise<readonly Curve[]> | undefined;

/** From 10 to 1,000 machines, of which three are control planes. Measured once; the rows below judge the same figures. */
export function growthCurves(): Promise<readonly Curve[]> {
  measured ??= measureCurves();
  return measured;
}

export const growthRows: readonly Row[] = kinds.slice(1).map((kind) => ({
  name: `${kind}, growth 100 → 1,000 machines, work of the engine`,
  anchor: "linear: 10 × the smaller, + 10 %",
  budget: 1.1,
  async measure() {
    const points = (await growthCurves()).find(({ name }) => name === kind)?.points ?? [];
    const at = (size: number) => points.find(({ machines }) => machines === size)?.milliseconds ?? Number.NaN;
    const note = `processor time in a world without network; 100 machines take ${at(100).toFixed(0)} ms`;
    return { ours: at(1000), anchor: 10 * at(100), unit: "ms", note };
  },
}));

async function measureCurves(): Promise<readonly Curve[]> {
  const columns: number[][] = [];
  for (const machines of sizes) {
    const works: (readonly number[])[] = [];
    for (let run = 0; run < runsOf(machines); run++) works.push(await engineWork(machines));
    const least = kinds.slice(1).map((_, kind) => Math.min(...works.map((work) => work[kind] ?? Number.NaN)));
    columns.push([await synthOf(machines - 3), ...least]);
  }
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
