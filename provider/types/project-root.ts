// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/**
 * What relative paths in attributes are relative to: TALOSMITH_ROOT, else the nearest folder above that has a
 * cdktf.json, else the working directory. A synthesized stack is somewhere below the project that it comes from, and
 * its state must not hold anybody's home directory.
 */
export function findProjectRoot(workingDirectory: string, environment: NodeJS.ProcessEnv): string {
  const given = environment.TALOSMITH_ROOT;
  if (given) return resolve(workingDirectory, given);
  for (let folder = workingDirectory; ; folder = dirname(folder)) {
    if (existsSync(join(folder, "cdktf.json"))) return folder;
    if (folder === dirname(folder)) return workingDirectory;
  }
}
