// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** The folders that the provider is made of, and the file that pins the packages. */
const sources = ["provider", "talos", "model", "engine", "cloud-init", "simulator"];

/**
 * One hash over everything that the made provider depends on, and `more` folders: the same hash, the same bytes. Every synth asks for it;
 * hundreds of small files are read several times faster one after another than through promises.
 */
export function sourceHash(root: string, more: readonly string[] = []): string {
  const files: string[] = ["package.json", "package-lock.json"];
  for (const folder of [...sources, ...more])
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
      if (entry.isFile() && entry.name.endsWith(".ts")) files.push(relative(root, join(entry.parentPath, entry.name)));
  const hash = createHash("sha256");
  for (const file of files.sort())
    hash
      .update(`${file.split(sep).join("/")}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0");
  return hash.digest("hex");
}
