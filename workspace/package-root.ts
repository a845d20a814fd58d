// SPDX-License-Identifier: Apache-2.0

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";

/** The folder of talosmith itself (a checkout or an installed package), not of the user's project. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}

/** The version in talosmith's own package.json. */
export function packageVersion(): string {
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(`${packageRoot()}/package.json`, "utf8")))
    .version;
}
