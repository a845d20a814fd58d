// SPDX-License-Identifier: Apache-2.0
import { kubernetesComponents } from "./component-images.ts";
import type { DesiredCluster, DesiredMachine } from "./desired.ts";
import { type ComponentUpgrade, machineWork } from "./machine-work.ts";
import type { ObservedCluster } from "./observed.ts";
import type { PlanBuilder } from "./plan-builder.ts";
import { planWorkers } from "./plan-rollout.ts";
import type { Policy } from "./policy.ts";
import { configured } from "./quorum.ts";

/** Component by component over all control planes, API servers first; then the kubelets, workers last. */
export function planKubernetesUpgrade(
  builder: PlanBuilder,
  desired: DesiredCluster,
  observed: ObservedCluster,
  policy: Policy,
): void {
  const pending = new Map<string, readonly ComponentUpgrade[]>();
  for (const machine of desired.machines) {
    const state = configured(observed.machines.get(machine.name));
    if (state !== undefined) pending.set(machine.name, machineWork(desired, machine, state).kubernetes);
  }
  let previous: readonly string[] = [];
  const add = (machine: DesiredMachine, upgrade: ComponentUpgrade, after: readonly string[]): string =>
    builder.add({ kind: "upgrade-kubernetes", machine: machine.name, ...upgrade }, after);
  for (const component of kubernetesComponents) {
    for (const machine of desired.machines.filter(({ role }) => role === "controlplane")) {
      const upgrade = pending.get(machine.name)?.find((candidate) => candidate.component === component);
      if (upgrade !== undefined) previous = [add(machine, upgrade, previous)];
    }
  }
  const workers = desired.machines.flatMap((machine) => {
    const upgrade = machine.role === "worker" ? pending.get(machine.name)?.[0] : undefined;
    return upgrade === undefined ? [] : [{ machine, upgrade }];
  });
  planWorkers(workers, policy, previous, ({ machine, upgrade }, after) => add(machine, upgrade, after));
}
