// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fastest, type Row, succeed } from "./row.ts";

export const synthGrowth: Row = {
  name: "synth, growth 100 → 1,000 machines",
  anchor: "linear: 10 × the smaller, + 10 %",
  budget: 1.1,
  async measure() {
    const [small, large] = [await synthOf(97), await synthOf(997)];
    return { ours: large, anchor: 10 * small, unit: "ms", note: `100 machines take ${small.toFixed(0)} ms` };
  },
};

/** Synthesizes three control planes and that many workers in a process of its own, start included. */
export async function synthOf(workers: number): Promise<number> {
  const root = mkdtempSync(join(tmpdir(), "talosmith-bench-"));
  mkdirSync(join(root, "environments"));
  writeFileSync(join(root, "cdktf.json"), "{}");
  writeFileSync(
    join(root, "environments", "bench.yaml"),
    `infrastructure: { kind: simulated }\ncontrolPlane: { count: 3 }\nworkers: [{ count: ${workers} }]\n`,
  );
  const script = new URL("synth-once.ts", import.meta.url).pathname;
  return fastest(3, () => succeed(process.execPath, ["--import", "tsx", script, root]));
}
