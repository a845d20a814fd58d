// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";

/** The `h1:` hash that Terraform's lock file has for a provider: over names and contents, the same on every platform. */
export function directoryHash(files: ReadonlyMap<string, Uint8Array>): string {
  const list = [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, content]) => `${createHash("sha256").update(content).digest("hex")}  ${name}\n`)
    .join("");
  return `h1:${createHash("sha256").update(list).digest("base64")}`;
}
