// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { pidExists, pidNamespace } from "./living-process.ts";

/** How the names of temporary folders begin; a word for their purpose follows. */
const temporary = "talosmith-";

/**
 * A new folder that is named after this process, so that the next process can tell what a killed one has left. Removes
 * what killed processes have left in `parent` under names that begin with `prefix`.
 */
export function processFolder(parent: string, prefix: string, purpose = ""): string {
  removeAbandoned(parent, prefix);
  return mkdtempSync(join(parent, `${prefix}${purpose}${purpose && "-"}${place()}-${process.pid}-`));
}

/** The same in the system's temporary folder, for its owner alone; synchronous, for the start of a process. */
export function temporaryFolder(purpose: string, parent = tmpdir()): string {
  return processFolder(parent, temporary, purpose);
}

/** Gives the work a temporary folder and removes it afterwards. After a kill, the next temporary folder's maker does. */
export async function withTemporaryFolder<T>(purpose: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = temporaryFolder(purpose);
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes the folders of killed processes: they may hold credentials. */
export function removeAbandoned(parent = tmpdir(), prefix = temporary): void {
  for (const name of namesIn(parent)) {
    if (!name.startsWith(prefix)) continue;
    const [, at, pid] = /^(?:[a-z]+-)?([0-9a-f]{8})-(\d+)-\w{6}$/.exec(name.slice(prefix.length)) ?? [];
    if (at === place() && !pidExists(Number(pid)) && isOwn(join(parent, name))) removeIfAllowed(join(parent, name));
  }
}

/** Root may remove what another user has put there under such a name; it is not root's to judge. */
function isOwn(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found !== undefined && (process.getuid === undefined || found.uid === process.getuid());
}

/** Another user's, or one that another process removes meanwhile, is no reason to fail. */
export function removeIfAllowed(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {}
}

/** A folder that cannot be listed can still be written to. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Names the processes that see each other: containers, or computers that share a folder, do not. */
function place(): string {
  return createHash("sha256").update(`${hostname()} ${pidNamespace()}`).digest("hex").slice(0, 8);
}
