// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../talos/errors.ts";
import { type ApplyResult, applyIn, observeAll } from "./apply.ts";
import { bootstrapTarget, type DesiredCluster } from "./desired.ts";
import { type EngineOptions, withExclusiveContext } from "./engine.ts";
import { runSteps } from "./execute/run.ts";
import type { KubernetesNode, ObservedCluster } from "./observed.ts";
import { installOf, mayInstall, untrusted } from "./plan/first-contact.ts";
import { PlanBuilder } from "./plan/plan-builder.ts";
import { configured } from "./plan/quorum.ts";
import { strayNodes } from "./plan/stray-nodes.ts";
import { checkSnapshot } from "./snapshot-file.ts";
import { type Step, step } from "./step.ts";

export interface RestoreOptions extends EngineOptions {
  /** Path of a snapshot as etcd writes it. */
  readonly snapshot: string;
  /** Throw away the etcd data that control planes still have. @default false: then they are refused */
  readonly discardData?: boolean;
}

export interface RestoreResult extends ApplyResult {
  /** Nodes that are in the backup and not in the list of machines. */
  readonly strays: readonly Pick<KubernetesNode, "name" | "ready">[];
}

/** Deletes nodes of Kubernetes whose machines are gone. */
export async function deleteNodes(options: EngineOptions, names: readonly string[]): Promise<void> {
  await withExclusiveContext(options, "delete nodes", (context) =>
    runSteps(
      names.map((machine) => step({ kind: "delete-node", machine })),
      context,
    ),
  );
}

/**
 * Brings a cluster back to what it was when the snapshot was taken. The file is checked before anything is touched. A
 * run that was interrupted goes on: what it has started from this snapshot is kept.
 */
export async function restoreCluster(options: RestoreOptions): Promise<RestoreResult> {
  const { sha256 } = await checkSnapshot(options.snapshot);
  return withExclusiveContext(options, "restore from a snapshot", async (context) => {
    const whole = { id: `restore/${sha256}` };
    const observed = await observeAll(context);
    const resumed =
      !options.discardData && (await context.hasBegun(whole, newEtcd)) && hasEtcdData(context.desired, observed);
    if (resumed)
      context.emit({
        type: "warning",
        message: "an earlier run has started etcd from this snapshot: going on from there",
      });
    const steps = resumed ? [] : planRestore(context.desired, observed, options);
    context.emit({ type: "planned", message: `${steps.length} steps to do`, steps });
    const starting = steps.filter(({ kind }) => kind === "restore-etcd");
    await runSteps(
      steps.filter((step) => !starting.includes(step)),
      context,
    );
    // From here on data on that machine is of this snapshot, unless etcd is wiped or bootstrapped again.
    if (!resumed) await context.record(whole, "accepted");
    await runSteps(
      starting.map((step) => ({ ...step, after: [] })),
      context,
    );
    const { steps: rest, kubeconfig } = await applyIn(context);
    const strays = strayNodes(context.desired, await context.observeKubernetes());
    // Last: a run that is killed after it would find a cluster that it cannot restore again.
    await context.record(whole, "finished");
    return { steps: [...steps, ...rest], kubeconfig, strays };
  });
}

/** Steps after which the data of etcd is not of the snapshot any more. */
const newEtcd = /^(bootstrap-etcd|wipe-etcd)\//;

/** Whether the control plane that a snapshot is given to has data. */
function hasEtcdData(desired: DesiredCluster, observed: ObservedCluster): boolean {
  const etcd = configured(observed.machines.get(bootstrapTarget(desired)))?.etcd;
  return etcd !== undefined && etcd.state !== "waiting";
}

/** All old data goes first, on every control plane; then the first of them starts etcd from the snapshot. Pure. */
export function planRestore(
  desired: DesiredCluster,
  observed: ObservedCluster,
  { snapshot, discardData = false }: Pick<RestoreOptions, "snapshot" | "discardData">,
): readonly Step[] {
  const builder = new PlanBuilder();
  const controlPlanes = desired.machines.filter(({ role }) => role === "controlplane");
  const withData = controlPlanes.filter(({ name }) => {
    const etcd = configured(observed.machines.get(name))?.etcd;
    return etcd !== undefined && etcd.state !== "waiting";
  });
  if (withData.length > 0 && !discardData) {
    throw new TalosError(
      "failed-precondition",
      `${withData.map(({ name }) => name).join(", ")} still ${withData.length === 1 ? "has" : "have"} etcd data`,
      {
        hint: "If the cluster is lost for good, say that this data may be discarded. Otherwise heal the members instead.",
      },
    );
  }
  const empty = controlPlanes.filter(({ name }) => observed.machines.get(name)?.state.kind === "maintenance");
  const stranger = empty.find((machine) => !mayInstall(desired, machine));
  if (stranger !== undefined) {
    const { message, hint } = untrusted(stranger.name);
    throw new TalosError("failed-precondition", message, { node: stranger.name, hint });
  }
  refuseUnusable(bootstrapTarget(desired), observed);
  for (const { name } of withData) builder.add({ kind: "wipe-etcd", machine: name });
  for (const machine of empty) builder.add(installOf(desired, machine));
  builder.closePhase();
  builder.add({ kind: "restore-etcd", machine: bootstrapTarget(desired), snapshot });
  return builder.steps;
}

/** Before anything is wiped: the machine that gets the snapshot must answer. */
function refuseUnusable(name: string, observed: ObservedCluster): void {
  const state = observed.machines.get(name)?.state;
  if (state === undefined || state.kind === "configured" || state.kind === "maintenance") return;
  throw new TalosError(
    "failed-precondition",
    `${name}, which starts etcd from the snapshot, cannot be used: ${state.reason}`,
    {
      node: name,
      hint: "Nothing was changed. Bring the machine back, or replace it, first.",
    },
  );
}
