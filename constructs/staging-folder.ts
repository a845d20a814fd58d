// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { pidExists, pidNamespace } from "../talos/living-process.ts";

const pattern = /^\.synth-(?:(\d+)-(\d+)-)?\w{6}$/;
/** No synth takes so long. */
const longestSynth = 60 * 60 * 1000;

/** A folder that nobody else writes to. Takes away what synths that were killed have left. */
export function stagingFolder(outdir: string): string {
  // Containers that share the folder do not see each other's processes.
  const namespace = pidNamespace() || "0";
  for (const name of readdirSync(outdir)) {
    const [found, theirs, pid] = pattern.exec(name) ?? [];
    if (found === undefined) continue;
    const dead = theirs === namespace && !pidExists(Number(pid));
    if (dead || isOld(join(outdir, name))) removeIfAllowed(join(outdir, name));
  }
  return mkdtempSync(join(outdir, `.synth-${namespace}-${process.pid}-`));
}

function isOld(folder: string): boolean {
  const made = statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
  return made !== undefined && Date.now() - made > longestSynth;
}

/** Another user's is no reason to fail. */
function removeIfAllowed(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {}
}
