// SPDX-License-Identifier: Apache-2.0
import { access, readFile, rm, rmdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { Client } from "./client.ts";
import type { ClusterInput } from "./cluster/spec.ts";

/**
 * A note in the project's folder of where a cluster's control planes answer, by name, and of how careful its `rollout`
 * is. A membership that ends has nobody else to ask: it may refer to no other machine, or a plan for one would concern
 * them all, and of its own attributes only those of the last apply are known.
 */
const noteOf = (client: Client, cluster: string) => client.path(`generated/${cluster}/control-planes.json`);

export type ControlPlanes = Readonly<Record<string, string>>;

type Rollout = ClusterInput["rollout"];

interface Noted {
  readonly controlPlanes: ControlPlanes;
  readonly rollout: Rollout;
}

interface Cluster {
  readonly name: string;
  readonly rollout: Rollout;
  readonly machines: Readonly<Record<string, { readonly role: string; readonly address: string }>>;
  readonly join: { readonly control_planes: readonly string[] } | null;
}

/** Written at every refresh and plan too. Never throws: a project that cannot be written to can be planned all the same. */
export async function noteCluster(client: Client, { name, machines, join, rollout }: Cluster): Promise<void> {
  const planes = Object.entries(machines)
    .filter(([, { role }]) => role === "controlplane")
    .map(([machine, { address }]) => [machine, address] as const);
  const joined = (join?.control_planes ?? []).map((address) => [address, address] as const);
  const noted: Noted = { controlPlanes: Object.fromEntries([...planes, ...joined]), rollout };
  const text = `${JSON.stringify(noted, null, 2)}\n`;
  const note = noteOf(client, name);
  if (text === (await readFile(note, "utf8").catch(() => undefined))) return;
  const { writeFileAtomically } = await import("../../talos/atomic-file.ts");
  await writeFileAtomically(note, text).catch(() => undefined);
}

/** Empty where nothing was noted, as in a checkout that has seen no plan. */
export async function notedCluster(client: Client, cluster: string): Promise<Noted> {
  try {
    const { controlPlanes, rollout } = JSON.parse(await readFile(noteOf(client, cluster), "utf8"));
    return { controlPlanes: controlPlanes ?? {}, rollout: rollout ?? null };
  } catch {
    return { controlPlanes: {}, rollout: null };
  }
}

export async function forgetCluster(client: Client, cluster: string): Promise<void> {
  await rm(noteOf(client, cluster), { force: true });
}

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
