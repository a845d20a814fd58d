// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders: string[] = [];
process.once("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder that goes with this process. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "talosmith-bench-"));
  folders.push(folder);
  return folder;
}
