// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import * as z from "zod";
import { packageRoot } from "../workspace/package-root.ts";

/** The version in talosmith's own package.json. */
export function packageVersion(): string {
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(`${packageRoot()}/package.json`, "utf8")))
    .version;
}
