// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes a folder a disk of 128 kB, perhaps one that nobody may write to; false where this user may not mount one. */
export function mountTinyDisk(folder: string, access: "rw" | "ro" = "rw"): boolean {
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=128k,${access}`, "talosmith-test", folder], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** The folder is there again as it was before. */
export function unmountDisk(folder: string): void {
  execFileSync("umount", [folder]);
}

export function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "talosmith-mount-"));
  const mounted = mountTinyDisk(folder);
  if (mounted) unmountDisk(folder);
  rmdirSync(folder);
  return mounted;
}
