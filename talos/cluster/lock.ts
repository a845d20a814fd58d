// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { readFile, readlink, rm, stat } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { writeFileAtomically } from "../atomic-file.ts";
import { TalosError } from "../errors.ts";
import { ClusterTaken } from "./cluster-taken.ts";
import { isAlive, type ProcessIdentity, processIdentity } from "./process-identity.ts";

/**
 * Where runs on this computer agree who works on a cluster: one file per Talos CA, whatever the checkout. In no folder
 * of its own, which the last one out would have to take from under another's feet.
 */
export function lockFileFor(caFingerprint: string): string {
  return join(tmpdir(), `talosmith-${userId()}-${digest(caFingerprint).slice(0, 16)}.lock`);
}

/**
 * Who shares a lock file, and so may take over what a dead one of them held: processes that see the same file and each
 * other. Containers of one computer, and runs with a temporary folder of their own, do not.
 */
export async function lockPlace(file: string): Promise<string> {
  const [{ boot }, folder, processes] = await Promise.all([
    processIdentity(process.pid),
    stat(dirname(file)).catch(() => undefined),
    readlink("/proc/self/ns/pid").catch(() => ""),
  ]);
  const sharing = JSON.stringify([folder?.dev, folder?.ino, basename(file), processes]);
  return `${hostname()}/${boot.slice(0, 8)}/${userId()}/${digest(sharing).slice(0, 8)}`;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Also of a user that the system has no name for, as in a container; -1 where users have no number. */
function userId(): number {
  return process.getuid?.() ?? -1;
}

const holderSchema = z.object({ pid: z.number(), boot: z.string(), started: z.string(), since: z.string() });

/** Work of this process on the same cluster queues up here; the file keeps other processes out. */
const queues = new Map<string, Promise<unknown>>();

/** Runs the work alone. Another process's lock is an error at once; the lock of a dead one is taken over. */
export async function withLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const before = queues.get(file) ?? Promise.resolve();
  const turn = before.catch(() => {}).then(() => holding(file, work));
  queues.set(file, turn);
  try {
    return await turn;
  } finally {
    if (queues.get(file) === turn) queues.delete(file);
  }
}

export interface LockHolder {
  readonly pid: number;
  readonly since: string;
  /** A dead one's lock is taken over by the next run anyway. */
  readonly alive: boolean;
}

/** Who on this computer works on the cluster; undefined when nobody does. */
export async function lockHolder(file: string): Promise<LockHolder | undefined> {
  const held = await readLock(file);
  return held === undefined ? undefined : { pid: held.pid, since: held.since, alive: await isAlive(held) };
}

/** Takes a dead one's lock away. */
export async function removeLock(file: string): Promise<void> {
  const held = await readLock(file);
  if (held !== undefined && !(await isAlive(held))) await discard(file, held);
}

async function holding<T>(file: string, work: () => Promise<T>): Promise<T> {
  await take(file);
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function take(file: string): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt++) {
    if (await create(file)) return;
    const held = await readLock(file);
    if (held === undefined) continue;
    if (await isAlive(held)) {
      throw new ClusterTaken(`another run works on this cluster: process ${held.pid}, since ${held.since}`, {
        hint: "Wait until it has ended, or stop it; then run this again.",
      });
    }
    await discard(file, held);
  }
  throw new ClusterTaken(`the lock ${file} changes hands all the time`, { hint: "Try again." });
}

/** False where there is one already. */
async function create(file: string): Promise<boolean> {
  const own = { ...(await processIdentity(process.pid)), since: new Date().toISOString() };
  try {
    await writeFileAtomically(file, `${JSON.stringify(own)}\n`, { exclusive: true });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/**
 * Takes a dead holder's file away, but never one that somebody else has put there meanwhile. Only who has the lock of
 * this one dead holder, which is named after what its file says, may do so: as long as that is held nobody replaces the
 * file. Who dies with it is a dead holder as well.
 */
async function discard(file: string, dead: HeldLock): Promise<void> {
  const leave = `${file}.${digest(dead.text).slice(0, 16)}`;
  if (await create(leave)) {
    try {
      if ((await readLock(file))?.text === dead.text) await rm(file, { force: true });
    } finally {
      await rm(leave, { force: true });
    }
    return;
  }
  const other = await readLock(leave);
  if (other === undefined) return;
  if (await isAlive(other)) await sleep(5);
  else await discard(leave, other);
}

interface HeldLock extends ProcessIdentity {
  readonly since: string;
  /** All of the file: no two holders' are the same. */
  readonly text: string;
}

async function readLock(file: string): Promise<HeldLock | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch {
    return undefined;
  }
  const parsed = holderSchema.safeParse(safeJson(text));
  // Files appear whole or not at all, so that anything unreadable was put there by a person.
  if (parsed.success) return { ...parsed.data, text };
  throw new TalosError("conflict", `the lock ${file} is not readable`, { hint: "If no other run works, delete it." });
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
