// SPDX-License-Identifier: Apache-2.0
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import { isAlive, type ProcessIdentity, processIdentity } from "../../talos/living-process.ts";

/**
 * Takes the directory's lock for this process; false when a living process has it.
 *
 * Each holder's file has the next number, made exclusively. A dead holder's file is never removed before a higher one
 * exists, so two processes that find the same dead holder reach for the same number and only one gets it.
 */
export async function takeLock(directory: string): Promise<boolean> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const highest = Math.max(0, ...(await lockNumbers(directory)));
  if (highest > 0) {
    const holder = await readHolder(lockPath(directory, highest));
    if (holder === "gone" || (holder !== undefined && (await isAlive(holder)))) return false;
  }
  const own = lockPath(directory, highest + 1);
  const identity = JSON.stringify(await processIdentity(process.pid));
  try {
    await writeFileAtomically(own, identity, { exclusive: true, links: "refuse" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  const older = (await lockNumbers(directory)).filter((number) => number <= highest);
  await Promise.all(older.map((number) => rm(lockPath(directory, number), { force: true })));
  return true;
}

/** The process that holds the lock, when it lives. */
export async function lockHolder(directory: string): Promise<ProcessIdentity | undefined> {
  const highest = Math.max(0, ...(await lockNumbers(directory)));
  const holder = highest === 0 ? undefined : await readHolder(lockPath(directory, highest));
  return holder !== undefined && holder !== "gone" && (await isAlive(holder)) ? holder : undefined;
}

/** Whether a process, living or dead, has taken the directory's lock. */
export async function wasLocked(directory: string): Promise<boolean> {
  return (await lockNumbers(directory)).length > 0;
}

function lockPath(directory: string, number: number): string {
  return join(directory, `lock.${number}`);
}

async function lockNumbers(directory: string): Promise<number[]> {
  try {
    return (await readdir(directory)).flatMap((name) => {
      const [, number] = /^lock\.(\d+)$/.exec(name) ?? [];
      return number === undefined ? [] : [Number(number)];
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/**
 * Undefined when nobody is named: the file is there whole or not at all, so that a part of one is what a full disk or a
 * loss of power has left. It is gone once another has taken the next number.
 */
async function readHolder(path: string): Promise<ProcessIdentity | "gone" | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as ProcessIdentity;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "gone";
    throw error;
  }
}
