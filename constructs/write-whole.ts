// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { App } from "cdktn";
import { fileError } from "../talos/file-error.ts";
import { processFolder, removeIfAllowed } from "../talos/process-folder.ts";

/**
 * Writes what an app has, whole or not at all: the CDK writes into a folder of its own first, for it would empty a file
 * before it finds the disk full. Says which file could not be written, which the CDK's own error does not.
 */
export function writeWhole(app: App): void {
  const outdir = resolve(app.outdir);
  let staging: string | undefined;
  try {
    staging = stagingFolder(outdir);
    mkdirSync(join(staging, "stacks"));
    synthesizeInto(app, staging);
    for (const file of filesBelow(staging)) moveInto(outdir, staging, file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).syscall === undefined) throw cause;
    const half = staging === undefined ? undefined : filesBelow(staging).find(isHalf);
    throw fileError("write", join(outdir, relative(staging ?? outdir, half ?? staging ?? outdir)), cause);
  } finally {
    if (staging !== undefined) rmSync(staging, { recursive: true, force: true });
  }
}

/** The CDK takes both places for fixed; nothing but the writing looks at them. */
function synthesizeInto(app: App, folder: string): void {
  const places: readonly { outdir: string }[] = [app, app.manifest];
  const before = places.map(({ outdir }) => outdir);
  for (const place of places) place.outdir = folder;
  try {
    app.synth();
  } finally {
    places.forEach((place, index) => {
      place.outdir = before[index] ?? folder;
    });
  }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
}

function moveInto(outdir: string, staging: string, file: string): void {
  const target = join(outdir, relative(staging, file));
  mkdirSync(dirname(target), { recursive: true });
  renameSync(file, target);
}

function isHalf(file: string): boolean {
  if (!file.endsWith(".json")) return false;
  try {
    JSON.parse(readFileSync(file, "utf8"));
    return false;
  } catch {
    return true;
  }
}

const prefix = ".synth-";
/** No synth takes so long. */
const longestSynth = 60 * 60 * 1000;

/** A folder of this process alone. Removes what killed synths have left. */
function stagingFolder(outdir: string): string {
  // Containers that share the folder do not see each other's processes.
  for (const name of readdirSync(outdir))
    if (name.startsWith(prefix) && isOld(join(outdir, name))) removeIfAllowed(join(outdir, name));
  return processFolder(outdir, prefix);
}

function isOld(folder: string): boolean {
  const made = statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
  return made !== undefined && Date.now() - made > longestSynth;
}
