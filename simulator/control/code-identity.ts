// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The parts of `talos/` that the simulator is made from. */
const used = ["api/gen", "config", "pki", "secrets", "version"];

/**
 * Names the code that a command would run, so that a daemon of older code can be told from one of this code: a bundle by
 * its content, a checkout by its source files. Both begin with their kind: a bundle and a checkout of the same
 * protocol get along, they do not replace each other's daemons in turns.
 */
export async function codeIdentity(daemonCommand: readonly string[]): Promise<string> {
  const entry = daemonCommand.at(-1) ?? "";
  if (!entry.endsWith(".ts")) {
    return `bundle:${createHash("sha256")
      .update(await readFile(entry))
      .digest("hex")
      .slice(0, 16)}`;
  }
  const simulator = dirname(entry);
  const folders = ["simulator", ...used.map((folder) => `talos/${folder}`)];
  const files = (await Promise.all(folders.map((folder) => sourceFiles(join(simulator, "..", folder))))).flat();
  const hash = createHash("sha256");
  for (const file of files.sort()) {
    const { size, mtimeMs } = await stat(file);
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return `checkout:${hash.digest("hex").slice(0, 16)}`;
}

/** True when a daemon of this code must give way to one of the other. */
export function isOutdated(running: string, wanted: string): boolean {
  return running !== wanted && running.split(":", 1)[0] === wanted.split(":", 1)[0];
}

async function sourceFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name));
}
