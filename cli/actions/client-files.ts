// SPDX-License-Identifier: Apache-2.0
import { resolve } from "node:path";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import { fetchKubeconfig } from "../../talos/cluster/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { CommandContext } from "../context.ts";
import { clientFiles, talosconfigText } from "../helper/client-files.ts";
import { type OpenCluster, openCluster } from "../helper/open-cluster.ts";

export async function writeClientFile(
  file: "kubeconfig" | "talosconfig",
  name: string,
  { path, force }: { path: string | undefined; force: boolean },
  context: CommandContext,
): Promise<void> {
  const cluster = await openCluster(name, context);
  const text = await contentOf(file, cluster, context);
  if (path === "-") {
    context.stdout.write(text);
    return;
  }
  const target = path === undefined ? resolve(cluster.root, clientFiles(name)[file]) : resolve(context.cwd, path);
  try {
    await writeFileAtomically(target, text, { exclusive: !force });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new TalosError("already-exists", `${target} is there already`, {
      hint: "Add --force to replace it, or - to print the file instead.",
      cause: error,
    });
  }
  context.stderr.write(`${target} written.\n`);
}

function contentOf(
  file: "kubeconfig" | "talosconfig",
  { desired, secrets }: OpenCluster,
  context: CommandContext,
): Promise<string> | string {
  if (file === "talosconfig") return talosconfigText(desired, secrets, context);
  return fetchKubeconfig({ desired, secrets, signal: context.signal });
}
