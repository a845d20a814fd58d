// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";

export interface LockEntry {
  readonly source: string;
  readonly version: string;
  readonly hash: string;
}

const heading = `# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.
`;

/**
 * The text of a `.terraform.lock.hcl` with our entry in it. The entries of other providers stay as they are; ours is
 * always rewritten, because our version may hold new content.
 */
export function mergeLockFile(existing: string, entry: LockEntry): string {
  const blocks = new Map<string, string>();
  const lines = existing.replaceAll("\r\n", "\n");
  for (const [block, source] of lines.matchAll(/^provider "([^"]+)" \{\n[\s\S]*?^\}\n?/gm)) {
    if (source !== undefined) blocks.set(source, block.trimEnd());
  }
  blocks.set(entry.source, render(entry));
  const sorted = [...blocks].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, block]) => block);
  return `${heading}\n${sorted.join("\n\n")}\n`;
}

function render({ source, version, hash }: LockEntry): string {
  return `provider "${source}" {
  version     = "${version}"
  constraints = "${version}"
  hashes = [
    "${hash}",
  ]
}`;
}

/** The `h1:` hash that Terraform's lock file has for a provider: over names and contents, the same on every platform. */
export function directoryHash(files: ReadonlyMap<string, Uint8Array>): string {
  const list = [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, content]) => `${createHash("sha256").update(content).digest("hex")}  ${name}\n`)
    .join("");
  return `h1:${createHash("sha256").update(list).digest("base64")}`;
}
