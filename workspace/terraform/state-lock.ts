// SPDX-License-Identifier: Apache-2.0

import { readFile, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import * as z from "zod";
import { textIfThere } from "../../talos/atomic-file.ts";
import { TalosError } from "../../talos/errors.ts";
import { pidExists } from "../../talos/living-process.ts";
import { jsonIn } from "../../talos/plain-text.ts";
import type { WorkspaceContext } from "../context.ts";
import { starterOf } from "./plan-file.ts";
import { runProgram } from "./run-program.ts";

/** What terraform and tofu say of the holder of a lock, whichever backend it is in. */
function field(words: string, name: string): string | undefined {
  return new RegExp(`^[│\\s]*${name}:\\s+(\\S.*?)\\s*$`, "m").exec(words)?.[1];
}

const doing: Readonly<Record<string, string>> = {
  OperationTypePlan: "planning",
  OperationTypeApply: "applying",
  OperationTypeRefresh: "refreshing",
};

const info = z.object({ ID: z.string().default(""), Operation: z.string(), Who: z.string(), Created: z.string() });

/** What terraform and tofu write beside a local state while they hold its lock. */
export type LockInfo = z.infer<typeof info>;

/** Terraform's own record of who holds the lock. One that was killed leaves it behind. */
export function lockFileOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.lock.info`);
}

/** Who holds the lock of a local state, or held it when it was killed; undefined after a run that has ended by itself. */
export async function lockOf(path: string): Promise<LockInfo | undefined> {
  return info.safeParse(jsonIn((await textIfThere(lockFileOf(path))) ?? "")).data;
}

/** Whether the process that held a lock has ended for certain: it ran on this computer, and the kernel knows of no holder. */
export async function holderHasEnded(path: string, { Who }: LockInfo): Promise<boolean> {
  return Who.endsWith(`@${hostname()}`) && (await kernelHolds(path)) === false;
}

/** A plan writes no state: one that is empty while a plan holds it was never written. */
export function isPlan({ Operation }: Pick<LockInfo, "Operation">): boolean {
  return Operation === "OperationTypePlan";
}

export function atWork({ Operation, Who, Created }: LockInfo, is: "is" | "was" = "is"): string {
  const since = Created.replace(/\.\d+Z$/, " UTC").replace("T", " ");
  return `${Who} ${is} ${doing[Operation] ?? Operation} since ${since}`;
}

/** Whether terraform did not get the state's lock: it has changed nothing then. */
export function isLockRefusal(words: string): boolean {
  return words.includes("Error acquiring the state lock");
}

interface Holder {
  readonly id: string;
  readonly who: string;
  readonly operation: string;
}

/** Who holds the state's lock, when that is what terraform's words are about. */
function holderIn(words: string): Holder | undefined {
  if (!isLockRefusal(words)) return undefined;
  const id = field(words, "ID");
  if (id === undefined) return undefined;
  return { id, who: field(words, "Who") ?? "somebody", operation: field(words, "Operation") ?? "" };
}

/** Who holds the state's lock to plan: that takes moments, and leaves the state as it is. */
export function plannerIn(words: string): string | undefined {
  const holder = holderIn(words);
  return holder !== undefined && isPlan({ Operation: holder.operation }) ? holder.who : undefined;
}

/** Who holds the state's lock and what to do, when that is what terraform's words are about. */
export function lockedError(words: string, program: string): TalosError | undefined {
  const holder = holderIn(words);
  if (holder === undefined) return undefined;
  const { id, who, operation } = holder;
  const since = field(words, "Created")?.replace(/\.\d+ .*$/, " UTC");
  const what = doing[operation] ?? operation;
  return new TalosError(
    "failed-precondition",
    `the state is locked: ${who} is ${what}${since === undefined ? "" : ` since ${since}`}`,
    { hint: `Wait until that has ended and try again. ${wayOut(words, program, id)}` },
  );
}

/** The lock of a local state is its process's: it ends with that, and nothing else can end it. */
function wayOut(words: string, program: string, id: string): string {
  return words.includes("resource temporarily unavailable")
    ? `Its ${program} is still running on this computer, even if what started it was killed: pgrep -a ${program}`
    : `Only if it was killed, in the stack's folder: ${program} force-unlock ${id}`;
}

/**
 * Whether a process of this machine holds the lock of a file, as terraform and tofu do while they work on a local state.
 * The kernel drops it when the process ends, however it ends. True where neither the kernel nor `lsof` can be asked.
 */
export async function isLocked(
  path: string,
  context: Pick<WorkspaceContext, "cwd" | "env" | "signal">,
  kernelLocks?: string,
): Promise<boolean> {
  const held = await kernelHolds(path, kernelLocks);
  if (held !== undefined) return held;
  try {
    // 0: it names processes that have the file open; 1: there is none, or it failed and says why.
    const { code, stderr } = await runProgram("lsof", ["-t", "--", path], context);
    return code !== 1 || stderr !== "";
  } catch {
    return true;
  }
}

/** Undefined where there is no kernel that lists its locks. */
async function kernelHolds(path: string, kernelLocks = "/proc/locks"): Promise<boolean | undefined> {
  const locks = await readFile(kernelLocks, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "EACCES") return undefined;
    throw error;
  });
  return locks === undefined ? undefined : holdsInode(locks, (await stat(path)).ino);
}

/** The process that holds the lock of a file and whose starter is gone, as the terraform of a killed talosmith. */
export async function orphanHolding(path: string, proc = "/proc"): Promise<number | undefined> {
  const inode = (await stat(path).catch(() => undefined))?.ino;
  const locks = await readFile(join(proc, "locks"), "utf8").catch(() => "");
  const lines = inode === undefined ? [] : locks.split("\n").filter((line) => holdsInode(line, inode));
  for (const pid of lines.map((line) => Number(/ (?:WRITE|READ) +(\d+) /.exec(line)?.[1]))) {
    if (await isOrphan(join(proc, String(pid)))) return pid;
  }
  return undefined;
}

/**
 * The plan file that talosmith gives terraform has talosmith's own number in its name. Who takes in orphans is not always
 * process 1: systemd --user and the first process of some containers do so as well.
 */
async function isOrphan(process: string): Promise<boolean> {
  const words = (await readFile(join(process, "cmdline"), "utf8").catch(() => "")).split("\0");
  const starter = words.map(starterOf).find((pid) => pid !== undefined);
  if (starter !== undefined) return !pidExists(starter);
  // The name in brackets may hold anything; the parent is the second word after it.
  const status = await readFile(join(process, "stat"), "utf8").catch(() => "");
  return status.slice(status.lastIndexOf(")")).split(" ")[2] === "1";
}

/** Lines such as `4: POSIX  ADVISORY  WRITE 812 fe:00:1443 0 EOF`. Devices differ from those of `stat` on some file systems. */
function holdsInode(locks: string, inode: number): boolean {
  return locks.split("\n").some((line) => / POSIX /.test(line) && line.includes(`:${inode} `));
}
