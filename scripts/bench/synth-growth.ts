// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Profile, profileOf } from "./profile.ts";
import { byTurns, fastest, type Row, succeed } from "./row.ts";
import { scratchFolder } from "./scratch-folder.ts";

/** A pool is one block of each resource, so that only its map of machines grows. */
export const synthGrowth: Row = {
  name: "synth, 3 + 1,000 machines",
  anchor: "synth of 3 + 10 machines",
  budget: 1.5,
  async measure() {
    const [small, large] = [projectOf(10), projectOf(1000)];
    return byTurns(
      4,
      () => synthOnce(large),
      () => synthOnce(small),
    );
  },
};

/** Synthesizes three control planes and that many workers in a process of its own, start included. */
export async function synthOf(workers: number): Promise<number> {
  const root = projectOf(workers);
  return fastest(3, () => synthOnce(root));
}

/** Where the time of a synth goes. */
export function synthProfile(): Promise<Profile> {
  const root = projectOf(97);
  return profileOf("synth, 3 + 97 machines", (nodeOptions) => synthOnce(root, nodeOptions));
}

function projectOf(workers: number): string {
  const root = scratchFolder();
  mkdirSync(join(root, "environments"));
  writeFileSync(join(root, "cdktf.json"), "{}");
  writeFileSync(
    join(root, "environments", "bench.yaml"),
    `infrastructure: { kind: simulated }\ncontrolPlane: { count: 3 }\nworkers: [{ count: ${workers} }]\n`,
  );
  return root;
}

function synthOnce(root: string, nodeOptions: readonly string[] = []): void {
  const script = new URL("synth-once.ts", import.meta.url).pathname;
  succeed(process.execPath, [...nodeOptions, "--import", "tsx", script, root]);
}
