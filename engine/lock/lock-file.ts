// SPDX-License-Identifier: Apache-2.0

import { createHash } from "node:crypto";
import { lstat, readFile, rm, stat, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import { TalosError, type TalosErrorOptions } from "../../talos/errors.ts";
import { isAlive, type ProcessIdentity, processIdentity, sees } from "../../talos/living-process.ts";
import { jsonIn } from "../../talos/plain-text.ts";

/** So often, in milliseconds, a holder marks its file. */
const heartbeat = 15_000;
/** Who has not done so for this long has died, where nothing else can be known of it. */
const longestSilence = 60_000;

const holderSchema = z.object({
  pid: z.number(),
  boot: z.string(),
  started: z.string(),
  namespace: z.string().optional(),
  host: z.string().optional(),
  since: z.string(),
});

export interface LockHolder {
  readonly pid: number;
  readonly since: string;
  /** A dead one's lock is taken over by the next run anyway. */
  readonly alive: boolean;
  /** The name of its computer or container, when processes of that are not seen from here. */
  readonly elsewhere?: string;
}

/** Who has the file; undefined when nobody does. */
export async function lockHolder(file: string): Promise<LockHolder | undefined> {
  const held = await readLock(file);
  if (held === undefined) return undefined;
  const { pid, since, host = "unknown" } = held;
  const place = (await sees(held)) ? {} : { elsewhere: host };
  return { pid, since, alive: await holderLives(file, held), ...place };
}

/** Takes a dead one's lock away. */
export async function removeLock(file: string): Promise<void> {
  const held = await readLock(file);
  if (held !== undefined && !(await holderLives(file, held))) await discard(file, held);
}

/**
 * Runs the work with the file in hand. Another process's is an error at once, with `other` as what that one is; that of a
 * dead one is taken over.
 */
export async function holding<T>(
  file: string,
  work: () => Promise<T>,
  other = "another run works on this cluster",
): Promise<T> {
  const text = await take(file, other);
  const beat = setInterval(() => void renew(file, text), heartbeat).unref();
  try {
    return await work();
  } finally {
    clearInterval(beat);
    await giveBack(file, text);
  }
}

/** Returns what the file says. */
async function take(file: string, other: string): Promise<string> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const text = await create(file);
    if (text !== undefined) return text;
    const held = await readLock(file);
    if (held === undefined) continue;
    if (await holderLives(file, held)) throw await taken(held, other);
    await discard(file, held);
  }
  throw new ClusterTaken(`the lock ${file} changes hands all the time`, { hint: "Try again." });
}

async function taken(held: HeldLock, other: string): Promise<ClusterTaken> {
  const here = await sees(held);
  const place = here ? "" : ` on ${held.host ?? "another computer"}, whose processes are not seen from here`;
  const rest = here ? "" : " One that died there gives the lock free after a minute.";
  return new ClusterTaken(`${other}: process ${held.pid}${place}, since ${held.since}`, {
    hint: `Wait until it has ended, or stop it; then run this again.${rest}`,
  });
}

/** Undefined where there is one already, else what the new one says. */
async function create(file: string): Promise<string | undefined> {
  const own = { ...(await processIdentity(process.pid)), host: hostname(), since: new Date().toISOString() };
  const text = `${JSON.stringify(own)}\n`;
  try {
    await writeFileAtomically(file, text, { exclusive: true, links: "refuse" });
    return text;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  if ((await lstat(file).catch(() => undefined))?.isSymbolicLink() !== true) return undefined;
  throw new TalosError("conflict", `the lock ${file} is a symbolic link`, {
    hint: "talosmith makes none: find out who did, delete it, and run the same command again.",
  });
}

/** For those who do not see our process. Where it fails, they take us for dead: nothing that a run could do about it. */
async function renew(file: string, text: string): Promise<void> {
  const now = new Date();
  if ((await textOf(file)) === text) await utimes(file, now, now).catch(() => {});
}

/** Not what is another's by now, because we were stopped for so long that we counted as dead. */
async function giveBack(file: string, text: string): Promise<void> {
  if ((await textOf(file)) === text) await rm(file, { force: true });
}

async function holderLives(file: string, held: HeldLock): Promise<boolean> {
  if (await sees(held)) return isAlive(held);
  const marked = await stat(file).catch(() => undefined);
  return marked !== undefined && Math.abs(Date.now() - marked.mtimeMs) < longestSilence;
}

/**
 * Takes a dead holder's file away, but never one that somebody else has put there meanwhile. Only who has the lock of
 * this one dead holder, which is named after what its file says, may do so: as long as that is held nobody replaces the
 * file. Who dies with it is a dead holder as well.
 */
async function discard(file: string, dead: HeldLock): Promise<void> {
  const leave = `${file}.${createHash("sha256").update(dead.text).digest("hex").slice(0, 16)}`;
  if ((await create(leave)) !== undefined) {
    try {
      await giveBack(file, dead.text);
    } finally {
      await rm(leave, { force: true });
    }
    return;
  }
  const other = await readLock(leave);
  if (other === undefined) return;
  if (await holderLives(leave, other)) await sleep(5);
  else await discard(leave, other);
}

interface HeldLock extends ProcessIdentity {
  readonly since: string;
  readonly host?: string | undefined;
  /** All of the file: no two holders' are the same. */
  readonly text: string;
}

async function readLock(file: string): Promise<HeldLock | undefined> {
  const text = await textOf(file);
  if (text === undefined) return undefined;
  const parsed = holderSchema.safeParse(jsonIn(text));
  // Files appear whole or not at all, so that anything unreadable was put there by a person.
  if (parsed.success) return { ...parsed.data, text };
  throw new TalosError("conflict", `the lock ${file} is not readable`, { hint: "If no other run works, delete it." });
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch {
    return undefined;
  }
}

/** Another run has the cluster, and may give it back. Known by its field: its class may come from another file. */
export class ClusterTaken extends TalosError {
  readonly taken = true;

  constructor(message: string, options: TalosErrorOptions = {}) {
    super("conflict", message, options);
  }
}
