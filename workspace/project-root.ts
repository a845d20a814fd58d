// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { TalosError } from "../talos/errors.ts";

/** The user's project: the nearest folder upwards that has a cdktf.json. */
export function projectRoot(from: string, env: Readonly<Record<string, string | undefined>>): string {
  if (env.TALOSMITH_ROOT) return env.TALOSMITH_ROOT;
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, "cdktf.json"))) return folder;
    if (folder === dirname(folder)) {
      throw new TalosError(
        "not-found",
        `no talosmith project here: neither ${from} nor a folder above it has a cdktf.json`,
        {
          hint: "Change to your project's folder, or set TALOSMITH_ROOT to it.",
        },
      );
    }
  }
}
