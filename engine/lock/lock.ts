// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { pidNamespace, processIdentity } from "../../talos/living-process.ts";
import { holding } from "./lock-file.ts";

/**
 * Where runs on this computer agree who works on a cluster: one file per Talos CA, whatever the checkout; or per environment
 * of a project. In no folder of its own, which the last one out would have to take from under another's feet.
 */
export function lockFileFor(key: string): string {
  return join(tmpdir(), `talosmith-${userId()}-${digest(key).slice(0, 16)}.lock`);
}

/**
 * Who shares a lock file, and so may take over what a dead one of them held: processes that see the same file and each
 * other. Containers of one computer, and runs with a temporary folder of their own, do not.
 */
export async function lockPlace(file: string): Promise<string> {
  const [{ boot }, folder] = await Promise.all([
    processIdentity(process.pid),
    stat(dirname(file)).catch(() => undefined),
  ]);
  const sharing = JSON.stringify([folder?.dev, folder?.ino, basename(file), pidNamespace()]);
  return `${hostname()}/${boot.slice(0, 8)}/${userId()}/${digest(sharing).slice(0, 8)}`;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Also of a user that the system has no name for, as in a container; -1 where users have no number. */
function userId(): number {
  return process.getuid?.() ?? -1;
}

/** What is done under a lock. */
export interface LockedWork {
  /** In a few words, for who has to wait for it. */
  readonly what: string;
  /** Hears what is waited for: other work of this process. */
  readonly waiting?: (message: string) => void;
}

interface Turn {
  readonly what: string;
  readonly ended: Promise<unknown>;
}

/** Work of this process on the same cluster queues up here; the file keeps other processes out. */
const queues = new Map<string, Turn>();

/**
 * Runs the work alone. Another process's lock is an error at once; the lock of a dead one is taken over. Work of this
 * process is waited for: whoever has begun both wants both.
 */
export async function withLock<T>(file: string, { what, waiting }: LockedWork, work: () => Promise<T>): Promise<T> {
  const before = queues.get(file);
  if (before !== undefined) waiting?.(`waits for its turn on this cluster, behind: ${before.what}`);
  const ended = (before?.ended ?? Promise.resolve()).catch(() => {}).then(() => holding(file, work));
  const turn = { what, ended };
  queues.set(file, turn);
  try {
    return await ended;
  } finally {
    if (queues.get(file) === turn) queues.delete(file);
  }
}
