// SPDX-License-Identifier: Apache-2.0
import { access, rm, rmdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { Client } from "./client.ts";

/**
 * A note in the project's folder that a cluster is being created. While it is there the cluster never was complete,
 * and its last machine may be taken away. Where it is missing, the cluster counts as complete: that is the safe side.
 */
const markOf = (client: Client, cluster: string) => client.path(`generated/.creating/${cluster}`);

export async function markCreating(client: Client, cluster: string): Promise<void> {
  const { writeFileAtomically } = await import("../../talos/atomic-file.ts");
  await writeFileAtomically(markOf(client, cluster), "");
}

export async function unmarkCreating(client: Client, cluster: string): Promise<void> {
  const mark = markOf(client, cluster);
  await rm(mark, { force: true });
  // The folder goes with its last note.
  await rmdir(dirname(mark)).catch(() => undefined);
}

export async function isBeingCreated(client: Client, cluster: string): Promise<boolean> {
  return access(markOf(client, cluster)).then(
    () => true,
    () => false,
  );
}
