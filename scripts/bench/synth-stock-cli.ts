// SPDX-License-Identifier: Apache-2.0
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../../test/support/programs.ts";
import { byTurns, fastest, type Row, succeed } from "./row.ts";
import { scratchFolder } from "./scratch-folder.ts";

/** What main.ts needs: our provider and the simulator are laid beside each stack. */
const folders = [
  "constructs",
  "talos",
  "model",
  "engine",
  "cloud-init",
  "workspace",
  "provider",
  "simulator",
  "scripts",
];
const root = new URL("../..", import.meta.url).pathname;

export const synthStockCli: Row = {
  name: "synth, 3 + 100 machines",
  anchor: "cdktf synth of the same app",
  budget: 0.5,
  async measure() {
    const app = scratchFolder();
    mkdirSync(join(app, "environments"));
    for (const name of [...folders, "main.ts", "package.json", "package-lock.json", "cdktf.json", "tsconfig.json"])
      cpSync(join(root, name), join(app, name), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(app, "node_modules"));
    writeFileSync(
      join(app, "environments", "bench.yaml"),
      "infrastructure: { kind: libvirt, trustOnFirstUse: true }\ncontrolPlane: { count: 3 }\nworkers: [{ count: 100 }]\n",
    );
    const { app: command }: { app: string } = JSON.parse(readFileSync(join(app, "cdktf.json"), "utf8"));
    const [program = "", ...args] = command.split(" ");
    const run = () => succeed(program, args, { cwd: app });
    const cdktf = findProgram("cdktf");
    // Once before the clock runs: who has just changed a source waits for the bundle, others do not.
    run();
    if (cdktf === undefined) return { ours: await fastest(5, run), anchor: undefined, unit: "ms" };
    const env = { ...process.env, CHECKPOINT_DISABLE: "1", CI: "1" };
    return byTurns(5, run, () => succeed(cdktf, ["synth"], { cwd: app, env }));
  },
};
