// SPDX-License-Identifier: Apache-2.0

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
