// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The folders that the daemon is made from, beside the files of `talos/` itself. */
const folders = [
  "simulator",
  "talos/api/gen",
  "talos/config",
  "talos/image",
  "talos/pki",
  "talos/secrets",
  "talos/version",
  "talos/yaml",
];

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
  const files = await codeFiles(entry);
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

/** The source files of a checkout's daemon, by its entry. */
export async function codeFiles(entry: string): Promise<string[]> {
  const root = join(dirname(entry), "..");
  const lists = await Promise.all([
    sourceFiles(join(root, "talos"), false),
    ...folders.map((folder) => sourceFiles(join(root, folder), true)),
  ]);
  return lists.flat();
}

async function sourceFiles(folder: string, recursive: boolean): Promise<string[]> {
  const entries = await readdir(folder, { recursive, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name));
}
