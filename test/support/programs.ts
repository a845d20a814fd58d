// SPDX-License-Identifier: Apache-2.0
import { accessSync, constants, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

/** Where a program is, or undefined. `TALOSMITH_TEST_<NAME>` names one that is not on the PATH. */
export function findProgram(name: string): string | undefined {
  const given = process.env[`TALOSMITH_TEST_${name.toUpperCase()}`];
  if (given !== undefined) return given;
  return (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** A folder for the PATH that holds exactly these programs, under these names; it goes with this process. */
export function programFolder(programs: Readonly<Record<string, string | undefined>>): string {
  const folder = mkdtempSync(join(tmpdir(), "talosmith-path-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const [name, path] of Object.entries(programs)) if (path !== undefined) symlinkSync(path, join(folder, name));
  return folder;
}
