// SPDX-License-Identifier: Apache-2.0
// Pools of auto scaling groups, whose machines are in no list.
import type { PoolMachine } from "../../../engine/index.ts";
import { scalingPoolLabel } from "../../../model/settings/index.ts";
import type { SecretsBundle } from "../../../talos/secrets/index.ts";
import { type Diagnostics, isUnknown, type Operation, path } from "../../framework/index.ts";
import type { Client } from "../client.ts";
import { refuseSecretPatches } from "../patch-files.ts";
import type { ClusterWishes } from "./attributes.ts";
import { type ClusterInput, clusterSpec } from "./spec.ts";

/** Their machines are found through control planes of the same stack. */
export async function checkPools(
  { scaling_pools: pools, join }: Pick<ClusterWishes, "scaling_pools" | "join">,
  diagnostics: Diagnostics,
): Promise<void> {
  if (pools === null || isUnknown(pools)) return;
  for (const [name, pool] of Object.entries(pools))
    if (!isUnknown(pool))
      await refuseSecretPatches(pool.patches, path("scaling_pools").key(name).attribute("patches"), diagnostics);
  if (join !== null && !isUnknown(join))
    diagnostics.error({
      summary: "Scaling pools without control planes",
      detail: "With join, the control plane is another stack's. Name the pools in the cluster of that stack.",
      path: path("scaling_pools"),
    });
}

/** The machines of scaling pools that are nodes now. Where that cannot be seen, it is a warning, and there are none. */
export async function poolMachines(
  input: ClusterInput,
  secrets: SecretsBundle,
  { signal, diagnostics }: Pick<Operation<Client>, "signal" | "diagnostics">,
): Promise<readonly PoolMachine[]> {
  if (input.scaling_pools === null) return [];
  const { findPoolMachines } = await import("../../../engine/index.ts");
  const { machines, problem } = await findPoolMachines(await clusterSpec(input), secrets, signal);
  if (problem !== undefined)
    diagnostics.warning({
      summary: "Machines of scaling pools could not be found",
      detail: `Kubernetes did not list its nodes: ${problem}. Machines of ${Object.keys(input.scaling_pools).join(", ")} are left as they are.`,
    });
  return machines;
}

/** AWS terminates a group's machines with it, and drains none of them. */
export function warnOfEnd(found: readonly PoolMachine[], next: ClusterInput, diagnostics: Diagnostics): void {
  const ending = found.filter(({ scalingPool }) => next.scaling_pools?.[scalingPool] === undefined);
  if (ending.length === 0) return;
  const selector = `${scalingPoolLabel} in (${[...new Set(ending.map(({ scalingPool }) => scalingPool))].join(", ")})`;
  diagnostics.warning({
    summary: "Machines end with their scaling pool",
    detail: `${ending.map(({ name }) => name).join(", ")} are terminated without being drained. Before you apply: kubectl drain -l '${selector}' --ignore-daemonsets --delete-emptydir-data`,
    path: path("scaling_pools"),
  });
}
