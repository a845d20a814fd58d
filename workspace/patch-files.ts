// SPDX-License-Identifier: Apache-2.0
import { join } from "node:path";
import { patchFilesOf } from "../model/index.ts";
import { patchOfFile } from "../talos/config/index.ts";
import { parsePatchFile } from "../talos/disk-key-file.ts";
import { openProtectedText } from "../talos/secrets/index.ts";
import { type Contract, contractOf } from "../talos/version/index.ts";
import type { EnvironmentOnDisk } from "./context.ts";

/** What the environment's patch files hold, as patches for every machine. Secret: errors tell a place, never a content. */
export function readPatchFiles({
  root,
  environment: { cluster },
  context,
}: PatchFilePlace): Promise<readonly string[]> {
  return openPatchFiles(patchFilesOf(cluster), contractOf(cluster), root, context.env);
}

type PatchFilePlace = Pick<EnvironmentOnDisk, "root" | "environment"> & {
  readonly context: Pick<EnvironmentOnDisk["context"], "env">;
};

/** Patch files by their names, which count from the project's root. `changed` has texts that count instead of the disk's. */
export function openPatchFiles(
  names: readonly string[],
  contract: Contract,
  root: string,
  env: EnvironmentOnDisk["context"]["env"],
  changed: ReadonlyMap<string, string> = new Map(),
): Promise<readonly string[]> {
  const open = async (name: string) => {
    const { path } = parsePatchFile(name);
    return patchOfFile(name, changed.get(path) ?? (await openProtectedText(join(root, path), env)), contract);
  };
  return Promise.all(names.map(open));
}
