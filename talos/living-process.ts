// SPDX-License-Identifier: Apache-2.0
import { readlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** Whether a process of this number is there, as far as processes are seen from here. */
export function pidExists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It lives, but belongs to someone else.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** A number for all processes that see each other: containers of one computer do not. Empty where the system has none. */
export function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "";
  } catch {
    return "";
  }
}

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
  // Without /proc on this system, or of a process that is gone, the number alone has to do.
  const files = ["/proc/sys/kernel/random/boot_id", `/proc/${pid}/stat`];
  const [boot = "", stat = ""] = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
  // The name in brackets may hold spaces and brackets; the start time is the 20th field after it.
  const started = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  return { pid, boot: boot.trim(), started, namespace: pidNamespace() };
}

/** Whether it still is the same process: of one that is seen from here. */
export async function isAlive(identity: Pick<ProcessIdentity, "pid" | "boot" | "started">): Promise<boolean> {
  if (!pidExists(identity.pid)) return false;
  const now = await processIdentity(identity.pid);
  return now.boot === identity.boot && now.started === identity.started;
}

/** Whether its life can be told from here: not for one in another container, or on another computer. */
export async function sees({ namespace, boot }: ProcessIdentity): Promise<boolean> {
  // Of an older release, which took all for seen.
  if (namespace === undefined) return true;
  const own = await processIdentity(process.pid);
  return namespace === own.namespace && boot === own.boot;
}
