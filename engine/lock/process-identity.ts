// SPDX-License-Identifier: Apache-2.0
import { readFile } from "node:fs/promises";
import { pidExists, pidNamespace } from "../../talos/living-process.ts";

/** Enough to tell a living process from a dead one whose number was given to another. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Of the system's boot; empty where the system does not tell. */
  readonly boot: string;
  /** When the process started, in the system's own count; empty where the system does not tell. */
  readonly started: string;
  /** Of the processes that see each other; empty where the system does not tell. */
  readonly namespace?: string | undefined;
}

export async function processIdentity(pid: number): Promise<ProcessIdentity> {
  const [boot, stat] = await Promise.all([textOf("/proc/sys/kernel/random/boot_id"), textOf(`/proc/${pid}/stat`)]);
  // The name in brackets may hold spaces and brackets; the start time is the 20th field after it.
  const started = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  return { pid, boot: boot.trim(), started, namespace: pidNamespace() };
}

/** Whether its life can be told from here: not for one in another container, or on another computer. */
export async function sees({ namespace, boot }: ProcessIdentity): Promise<boolean> {
  // Of an older release, which took all for seen.
  if (namespace === undefined) return true;
  const own = await processIdentity(process.pid);
  return namespace === own.namespace && boot === own.boot;
}

/** Of one that is seen from here. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  if (!pidExists(identity.pid)) return false;
  const now = await processIdentity(identity.pid);
  return now.boot === identity.boot && now.started === identity.started;
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch {
    // No /proc on this system, or the process is gone: the number alone has to do.
    return "";
  }
}
