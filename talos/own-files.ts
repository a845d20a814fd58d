// SPDX-License-Identifier: Apache-2.0
// What comes with talosmith besides its code: files of a checkout or an installed package, or what is inside of an executable.
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { getAsset, isSea } from "node:sea";
import { fileURLToPath } from "node:url";
import * as z from "zod";

/** Whether talosmith runs as one file with Node inside. */
export function isExecutable(): boolean {
  return isSea();
}

/** The folder of talosmith itself (a checkout or an installed package), not of the user's project. An executable has none. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`no package.json above ${fileURLToPath(import.meta.url)}`);
    folder = parent;
  }
  return folder;
}

/** The text of a file by its path in the package; an executable has it by its name. */
export function ownFile(path: string): string {
  return isExecutable() ? getAsset(basename(path), "utf8") : readFileSync(join(packageRoot(), path), "utf8");
}

const ownPackage = z.object({ version: z.string() });

/** The version in talosmith's own package.json. */
export function packageVersion(): string {
  return ownPackage.parse(JSON.parse(ownFile("package.json"))).version;
}
