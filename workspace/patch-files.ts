// SPDX-License-Identifier: Apache-2.0
import { join } from "node:path";
import type { Environment } from "../model/index.ts";
import { parsePatch, patchOfFile } from "../talos/config/index.ts";
import { parsePatchFile } from "../talos/disk-key-file.ts";
import { TalosError } from "../talos/errors.ts";
import { openProtectedText } from "../talos/secrets/index.ts";
import { TalosVersion } from "../talos/version/index.ts";
import type { WorkspaceContext } from "./context.ts";

/** What the environment's patch files hold, as patches for every machine. Secret: errors tell a place, never a content. */
export async function readPatchFiles(
  root: string,
  { cluster }: Environment,
  { env }: Pick<WorkspaceContext, "env">,
): Promise<readonly string[]> {
  const { contract } = TalosVersion.parse(cluster.talosVersion);
  return Promise.all(
    cluster.patchFiles.map(async (name) => {
      const { path } = parsePatchFile(name);
      const patch = patchOfFile(name, await openProtectedText(join(root, path), env), contract);
      try {
        parsePatch(patch, path);
      } catch (error) {
        const line = /line \d+/.exec(error instanceof Error ? error.message : "")?.[0];
        const message = `${path}${line === undefined ? "" : `, ${line}`}: not a config patch`;
        throw new TalosError("invalid-input", message, { hint: "What it holds is not shown here, for it is secret." });
      }
      return patch;
    }),
  );
}
