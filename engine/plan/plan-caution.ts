// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import type { DesiredCluster } from "../desired.ts";
import type { Policy } from "../policy.ts";
import { type GatedWork, stepId } from "../step.ts";
import type { PlanBuilder } from "./plan-builder.ts";

/** Adds the gate before work on a machine in use, where the policy has any; returns what the work has to wait for. */
export function planGate(
  builder: PlanBuilder,
  policy: Policy,
  machine: string,
  before: GatedWork,
  after: readonly string[],
): readonly string[] {
  const [windows, gates] = [policy.windows.length, policy.gates.length];
  if (windows + gates === 0) return after;
  return [builder.add({ kind: "gate", machine, before, windows, gates }, after)];
}

/** What a rollout goes over, in order: a part of the change for its canaries, and the rest. */
export function splitCanaries<T>(
  changes: readonly T[],
  { canary }: Policy,
): { readonly canaries: readonly T[]; readonly rest: readonly T[] } {
  // With nobody left after them there is nothing to keep from harm.
  if (canary === undefined || changes.length <= canary.machines) return { canaries: [], rest: changes };
  return { canaries: changes.slice(0, canary.machines), rest: changes.slice(canary.machines) };
}

export type CanaryWork = "machines" | "kubelets";

/** Adds the pause after the canaries. */
export function planPause(
  builder: PlanBuilder,
  desired: DesiredCluster,
  { canary }: Policy,
  work: CanaryWork,
  canaries: readonly string[],
  after: readonly string[],
): readonly string[] {
  const machine = canaries.at(-1);
  if (canary === undefined || machine === undefined) return after;
  const { soak, afterwards } = canary;
  return [
    builder.add({ kind: "pause", machine, change: changeName(desired, work), canaries, soak, afterwards }, after),
  ];
}

/** Ids of the pauses that a change to this wish may have had. */
export function pauseIds(desired: DesiredCluster): readonly string[] {
  return (["machines", "kubelets"] as const).map((work) =>
    stepId({
      kind: "pause",
      machine: "",
      change: changeName(desired, work),
      canaries: [],
      soak: 0,
      afterwards: "stop",
    }),
  );
}

/** The same in every run that wishes for the same, and another as soon as anything is wished otherwise. */
function changeName({ machines, talosVersion, kubernetesVersion }: DesiredCluster, work: CanaryWork): string {
  const hash = createHash("sha256").update(`${talosVersion} ${kubernetesVersion}`);
  for (const { name, installImage, config } of machines) hash.update(JSON.stringify([name, installImage, config]));
  return `${work}/${hash.digest("hex").slice(0, 12)}`;
}
