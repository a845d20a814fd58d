// SPDX-License-Identifier: Apache-2.0
import { readFile, stat } from "node:fs/promises";
import type { CommandContext } from "../context.ts";
import { runProgram } from "./run-program.ts";

/**
 * Whether a process of this machine holds the lock of a file, as terraform and tofu do while they work on a local state.
 * The kernel drops it when the process ends, however it ends. True where neither the kernel nor `lsof` can be asked.
 */
export async function isLocked(
  path: string,
  context: Pick<CommandContext, "cwd" | "env" | "signal">,
  kernelLocks = "/proc/locks",
): Promise<boolean> {
  const locks = await readFile(kernelLocks, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "EACCES") return undefined;
    throw error;
  });
  if (locks !== undefined) return holdsInode(locks, (await stat(path)).ino);
  try {
    // 0: it names processes that have the file open; 1: there is none, or it failed and says why.
    const { code, stderr } = await runProgram("lsof", ["-t", "--", path], context);
    return code !== 1 || stderr !== "";
  } catch {
    return true;
  }
}

/** Lines such as `4: POSIX  ADVISORY  WRITE 812 fe:00:1443 0 EOF`. Devices differ from those of `stat` on some file systems. */
function holdsInode(locks: string, inode: number): boolean {
  return locks.split("\n").some((line) => / POSIX /.test(line) && line.includes(`:${inode} `));
}
