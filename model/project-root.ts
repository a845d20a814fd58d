// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

type Env = Readonly<Record<string, string | undefined>>;

/** The user's project: TALOSMITH_ROOT, else the nearest folder upwards that has a cdktf.json. */
export function nearestProject(from: string, { TALOSMITH_ROOT: given }: Env): string | undefined {
  if (given) return resolve(from, given);
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, "cdktf.json"))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

/** For the programs that a command starts in other folders, where a relative TALOSMITH_ROOT would name another project. */
export function withAbsoluteRoot(env: Env, cwd: string): Env {
  const { TALOSMITH_ROOT: given } = env;
  return given ? { ...env, TALOSMITH_ROOT: resolve(cwd, given) } : env;
}
