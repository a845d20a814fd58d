// SPDX-License-Identifier: Apache-2.0
import { readFile, rm } from "node:fs/promises";
import type { Client } from "./client.ts";

/**
 * A note in the project's folder of where a cluster's control planes answer, by name. The membership of a machine that
 * is dead has nobody else to ask: it may refer to no other machine, or a plan for one would concern them all.
 */
const noteOf = (client: Client, cluster: string) => client.path(`generated/${cluster}/control-planes.json`);

export type ControlPlanes = Readonly<Record<string, string>>;

interface Machines {
  readonly name: string;
  readonly machines: Readonly<Record<string, { readonly role: string; readonly address: string }>>;
  readonly join: { readonly control_planes: readonly string[] } | null;
}

/** Written at every refresh too. Never throws: a project that cannot be written to can be planned all the same. */
export async function noteControlPlanes(client: Client, { name, machines, join }: Machines): Promise<void> {
  const planes = Object.entries(machines)
    .filter(([, { role }]) => role === "controlplane")
    .map(([machine, { address }]) => [machine, address] as const);
  const joined = (join?.control_planes ?? []).map((address) => [address, address] as const);
  const text = `${JSON.stringify(Object.fromEntries([...planes, ...joined]), null, 2)}\n`;
  const note = noteOf(client, name);
  if (text === (await readFile(note, "utf8").catch(() => undefined))) return;
  const { writeFileAtomically } = await import("../../talos/atomic-file.ts");
  await writeFileAtomically(note, text).catch(() => undefined);
}

/** Empty where nothing was noted, as in a checkout that has seen no plan. */
export async function notedControlPlanes(client: Client, cluster: string): Promise<ControlPlanes> {
  try {
    const noted = Object.entries(JSON.parse(await readFile(noteOf(client, cluster), "utf8")) ?? {});
    return Object.fromEntries(noted.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  } catch {
    return {};
  }
}

export async function forgetControlPlanes(client: Client, cluster: string): Promise<void> {
  await rm(noteOf(client, cluster), { force: true });
}
