// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { readIfThere } from "../../talos/atomic-file.ts";
import { type AttributePath, DiagnosticError, type Diagnostics } from "../framework/index.ts";
import type { Client } from "./client.ts";

export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** A file that a resource has written, and what it wrote there. */
export interface OwnFile {
  readonly path: string;
  readonly fingerprint: string | null;
}

/** Removes what a resource has written. A file that somebody else has written since is not ours to remove. */
export async function removeOwn(files: readonly OwnFile[], diagnostics: Diagnostics): Promise<void> {
  for (const { path, fingerprint } of files) {
    const found = await readIfThere(path);
    if (found === undefined) continue;
    if (sha256(found) === fingerprint) await rm(path, { force: true });
    else
      diagnostics.warning({
        summary: "A file was left",
        detail: `${path} is not as it was written, so it was not removed. It may hold keys of the cluster.`,
      });
  }
}

/** What a file holds that is imported by its path. */
export async function readToImport(client: Client, relative: string): Promise<Buffer> {
  const found = await readIfThere(client.path(relative));
  if (found !== undefined) return found;
  throw new DiagnosticError({
    summary: "No such file",
    detail: `${relative} is not there. Give its path, relative to the project's root, ${client.root}.`,
  });
}

/** Files that are only named may change between plan and apply, and nobody has agreed to what they hold now. */
export function changedSincePlan(what: string, path: AttributePath): DiagnosticError {
  return new DiagnosticError({
    summary: "Not what was planned",
    detail: `${what} changed after the plan was made. Nothing was done; plan again.`,
    path,
  });
}
