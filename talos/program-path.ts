// SPDX-License-Identifier: Apache-2.0
import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** Where a program is: at its own absolute path, or in the first folder of the PATH that has it. */
export function programPath(name: string, path: string | undefined): string | undefined {
  const folders = (path ?? "").split(delimiter).filter((folder) => folder !== "");
  const candidates = isAbsolute(name) ? [name] : folders.map((folder) => join(folder, name));
  return candidates.find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
