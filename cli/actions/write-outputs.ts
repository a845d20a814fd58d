// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import { TalosError } from "../../talos/errors.ts";

export interface OutputFile {
  /** As the user wrote it. */
  readonly path: string;
  readonly content: string;
}

/** Writes private files, all of them or, when one is in the way, none. */
export async function writeOutputs(
  files: readonly OutputFile[],
  options: { readonly cwd: string; readonly force: boolean },
): Promise<void> {
  if (!options.force) {
    for (const { path } of files) {
      if (!existsSync(resolve(options.cwd, path))) continue;
      throw new TalosError("already-exists", `file ${JSON.stringify(path)} already exists, use --force to overwrite`);
    }
  }
  for (const { path, content } of files) await writeFileAtomically(resolve(options.cwd, path), content);
}
