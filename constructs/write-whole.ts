// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { App } from "cdktf";
import { fileError } from "../talos/file-error.ts";

/**
 * Writes what an app has, or says which file could not be written: the CDK's own error names none on a full disk, and
 * leaves an empty file that Terraform would stumble over.
 */
export function writeWhole(app: App): void {
  try {
    app.synth();
  } catch (cause) {
    const stacks = Object.values(app.manifest.stacks).map(({ synthesizedStackPath }) => synthesizedStackPath);
    const half = [...stacks, "manifest.json"].map((name) => join(app.outdir, name)).filter(isHalf);
    for (const path of half) rmSync(path);
    const [path] = half;
    throw path === undefined || (cause as NodeJS.ErrnoException).syscall === undefined
      ? cause
      : fileError("write", path, cause);
  }
}

function isHalf(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    JSON.parse(readFileSync(path, "utf8"));
    return false;
  } catch {
    return true;
  }
}
