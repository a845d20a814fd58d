// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";

/** The folders that the provider is made of, and the file that pins the packages. */
const sources = ["provider", "talos", "cloud-init", "simulator"];

/** One hash over everything that the made provider depends on: the same hash, the same bytes. */
export async function sourceHash(root: string): Promise<string> {
  const files: string[] = ["package.json", "package-lock.json"];
  for (const folder of sources) {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
    for (const entry of entries)
      if (entry.isFile() && entry.name.endsWith(".ts")) files.push(relative(root, join(entry.parentPath, entry.name)));
  }
  files.sort();
  const contents = await Promise.all(files.map((file) => readFile(join(root, file))));
  const hash = createHash("sha256");
  files.forEach((file, index) => {
    hash
      .update(`${file.split(sep).join("/")}\0`)
      .update(contents[index] ?? "")
      .update("\0");
  });
  return hash.digest("hex");
}
