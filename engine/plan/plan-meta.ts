// SPDX-License-Identifier: Apache-2.0
import type { DesiredCluster, DesiredMachine } from "../desired.ts";
import type { ConfiguredMachine, ObservedCluster } from "../observed.ts";
import type { PlanBuilder } from "./plan-builder.ts";

/** META of machines where it differs. A machine takes none before it has its config, and loses it with a reset. */
export function planMeta(builder: PlanBuilder, desired: DesiredCluster, observed: ObservedCluster): void {
  for (const machine of desired.machines) {
    const state = observed.machines.get(machine.name)?.state;
    if (state?.kind !== "maintenance" && state?.kind !== "configured") continue;
    const keys = metaWork(machine, state.kind === "configured" ? state : { meta: {} });
    if (keys.length === 0) continue;
    builder.add({ kind: "write-meta", machine: machine.name, keys }, [`apply-config/${machine.name}`]);
  }
}

/** The keys whose value is not the wished one. An empty text wishes for no value; absent and empty are the same. */
export function metaWork(
  { meta = {} }: Pick<DesiredMachine, "meta">,
  { meta: found }: Pick<ConfiguredMachine, "meta">,
): readonly number[] {
  // What the machine does not tell cannot be compared.
  if (found === undefined) return [];
  return Object.entries(meta)
    .filter(([key, value]) => (found[key] ?? "") !== value)
    .map(([key]) => Number(key))
    .sort((a, b) => a - b);
}
