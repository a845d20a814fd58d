// SPDX-License-Identifier: Apache-2.0
import { readlinkSync } from "node:fs";

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
