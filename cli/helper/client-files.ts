// SPDX-License-Identifier: Apache-2.0
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import { type DesiredCluster, fetchKubeconfig } from "../../talos/cluster/index.ts";
import { encodeTalosconfig, generateTalosconfig } from "../../talos/config/index.ts";
import type { SecretsBundle } from "../../talos/secrets/index.ts";
import type { CommandContext } from "../context.ts";

/** Relative to the project's root, as they are shown and as the provider writes them. */
export function clientFiles(environment: string): { readonly kubeconfig: string; readonly talosconfig: string } {
  const folder = join("generated", environment);
  return { kubeconfig: join(folder, "kubeconfig"), talosconfig: join(folder, "talosconfig") };
}

/** Writes both files where one is missing; files that are there stay as they are. */
export async function ensureClientFiles(
  root: string,
  environment: string,
  desired: DesiredCluster,
  secrets: SecretsBundle,
  context: CommandContext,
): Promise<void> {
  const files = clientFiles(environment);
  if (!(await exists(join(root, files.talosconfig)))) {
    await writeFileAtomically(join(root, files.talosconfig), talosconfigText(desired, secrets, context));
  }
  if (!(await exists(join(root, files.kubeconfig)))) {
    const kubeconfig = await fetchKubeconfig({ desired, secrets, signal: context.signal });
    await writeFileAtomically(join(root, files.kubeconfig), kubeconfig);
  }
}

/** An admin talosconfig that reaches every machine through the control planes. */
export function talosconfigText(
  desired: DesiredCluster,
  secrets: SecretsBundle,
  { clock, entropy }: Pick<CommandContext, "clock" | "entropy">,
): string {
  const controlPlanes = desired.machines.filter(({ role }) => role === "controlplane");
  const talosconfig = generateTalosconfig(secrets, {
    clusterName: desired.name,
    endpoints: controlPlanes.map(({ address }) => address),
    nodes: desired.machines.map(({ address }) => address),
    clock,
    entropy,
  });
  return encodeTalosconfig(talosconfig);
}

export async function removeClientFiles(root: string, environment: string): Promise<void> {
  for (const file of Object.values(clientFiles(environment))) await rm(join(root, file), { force: true });
}

async function exists(path: string): Promise<boolean> {
  try {
    await readFile(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
