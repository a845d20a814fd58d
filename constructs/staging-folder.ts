// SPDX-License-Identifier: Apache-2.0
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { processFolder, removeIfAllowed } from "../talos/process-folder.ts";

const prefix = ".synth-";
/** No synth takes so long. */
const longestSynth = 60 * 60 * 1000;

/** A folder that nobody else writes to. Takes away what synths that were killed have left. */
export function stagingFolder(outdir: string): string {
  // Containers that share the folder do not see each other's processes.
  for (const name of readdirSync(outdir))
    if (name.startsWith(prefix) && isOld(join(outdir, name))) removeIfAllowed(join(outdir, name));
  return processFolder(outdir, prefix);
}

function isOld(folder: string): boolean {
  const made = statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
  return made !== undefined && Date.now() - made > longestSynth;
}
