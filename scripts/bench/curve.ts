// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import * as z from "zod";
import type { Row } from "./row.ts";
import { synthOf } from "./synth-growth.ts";

/** How the work grows with the number of machines. */
export interface Curve {
  readonly name: string;
  readonly points: readonly { readonly machines: number; readonly milliseconds: number }[];
}

const sizes = [10, 100, 1000] as const;

/** By number of machines: bring-up, plan, upgrade. */
const works = z.array(z.array(z.number()));
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
  // In a process of its own: what other rows leave in the memory of this one costs the largest cluster most.
  const script = join(import.meta.dirname, "engine-work.ts");
  const printed = execFileSync(process.execPath, ["--import", "tsx", script, ...sizes.map(String)], {
    encoding: "utf8",
  });
  const engine = works.parse(JSON.parse(printed));
  const columns: (readonly number[])[] = [];
  for (const [index, machines] of sizes.entries())
    columns.push([await synthOf(machines - 3), ...(engine[index] ?? [])]);
  return kinds.map((name, row) => ({
    name,
    points: sizes.map((machines, column) => ({ machines, milliseconds: columns[column]?.[row] ?? Number.NaN })),
  }));
}
