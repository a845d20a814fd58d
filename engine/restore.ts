// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../talos/errors.ts";
import { type ApplyResult, applyIn, observeAll } from "./apply.ts";
import { bootstrapTarget, type DesiredCluster, type DesiredMachine } from "./desired.ts";
import { type EngineOptions, withContext, withExclusiveContext } from "./engine.ts";
import { runSteps } from "./execute/run.ts";
import type { StepContext } from "./execute/step-context.ts";
import type { KubernetesNode, ObservedCluster } from "./observed.ts";
import { installOf, mayInstall, untrusted } from "./plan/first-contact.ts";
import { machineWork } from "./plan/machine-work.ts";
import { plan } from "./plan/plan.ts";
import { PlanBuilder } from "./plan/plan-builder.ts";
import { configured } from "./plan/quorum.ts";
import { strayNodes } from "./plan/stray-nodes.ts";
import { type Policy, usesKubernetes } from "./policy.ts";
import { checkSnapshot } from "./snapshot-file.ts";
import { type Step, type StepKind, step } from "./step.ts";

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
  const whole = await runOf(options);
  return withExclusiveContext(options, "restore from a snapshot", async (context) => {
    const { steps, coming, resumed } = await restorePlan(whole, context, options);
    if (resumed)
      context.emit({
        type: "warning",
        message: "an earlier run has started etcd from this snapshot: going on from there",
      });
    context.emit({ type: "planned", message: `${steps.length} steps to do`, steps, coming });
    const start = Math.max(
      0,
      steps.findIndex(({ kind }) => kind === "restore-etcd"),
    );
    await runSteps(steps.slice(0, start), context);
    // From here on data on that machine is of this snapshot, unless etcd is wiped or bootstrapped again.
    if (!resumed) await context.record(whole, "accepted");
    const left = steps.slice(start);
    const ids = new Set(left.map(({ id }) => id));
    await runSteps(
      left.map((step) => ({ ...step, after: step.after.filter((id) => ids.has(id)) })),
      context,
    );
    const { steps: rest, kubeconfig } = await applyIn(context);
    const strays = strayNodes(context.desired, await context.observeKubernetes());
    // Last: a run that is killed after it would find a cluster that it cannot restore again.
    await context.record(whole, "finished");
    return { steps: [...steps, ...rest], kubeconfig, strays };
  });
}

export interface RestorePlan {
  readonly steps: readonly Step[];
  /** How many more steps bring configs and versions to what is desired, as far as it is known now. */
  readonly coming: number;
  /** An earlier run has started etcd from this snapshot: nothing is wiped any more. */
  readonly resumed: boolean;
}

/** What `restoreCluster` would do now. Changes nothing; refuses what it would refuse. */
export async function previewRestore(options: RestoreOptions): Promise<RestorePlan> {
  const whole = await runOf(options);
  return withContext(options, (context) => restorePlan(whole, context, options));
}

/** By what the journal knows a restore from this snapshot. Throws where the snapshot is not whole. */
async function runOf({ snapshot }: Pick<RestoreOptions, "snapshot">): Promise<{ readonly id: string }> {
  return { id: `restore/${(await checkSnapshot(snapshot)).sha256}` };
}

async function restorePlan(
  whole: { readonly id: string },
  context: StepContext,
  options: RestoreOptions,
): Promise<RestorePlan> {
  const { desired, policy } = context;
  const observed = await observeAll(context);
  const resumed = !options.discardData && (await context.hasBegun(whole, newEtcd)) && hasEtcdData(desired, observed);
  if (resumed) return { steps: [], coming: 0, resumed };
  const steps = planRestore(desired, observed, options, policy);
  const known = new Set(steps.map(({ id }) => id));
  const later = plan(desired, observed, policy).filter(({ id, kind }) => !known.has(id) && !repairs.has(kind));
  return { steps, coming: later.length, resumed };
}

/** What a cluster without its etcd seems to need, and does not need any more with that of the snapshot. */
const repairs: ReadonlySet<StepKind> = new Set([
  "bootstrap-etcd",
  "remove-etcd-member",
  "join-etcd",
  "join-kubernetes",
]);

/** Steps after which the data of etcd is not of the snapshot any more. */
const newEtcd = /^(bootstrap-etcd|wipe-etcd)\//;

/** Whether the control plane that a snapshot is given to has data. */
function hasEtcdData(desired: DesiredCluster, observed: ObservedCluster): boolean {
  const etcd = configured(observed.machines.get(bootstrapTarget(desired)))?.etcd;
  return etcd !== undefined && etcd.state !== "waiting";
}

/**
 * All old data goes first, on every control plane; then the first of them starts etcd from the snapshot, the others join it,
 * and every machine becomes a node again. Pure.
 */
export function planRestore(
  desired: DesiredCluster,
  observed: ObservedCluster,
  { snapshot, discardData = false }: Pick<RestoreOptions, "snapshot" | "discardData">,
  policy: Policy,
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
  builder.closePhase();
  for (const machine of desired.machines) planReturn(builder, machine, desired, observed, policy);
  return builder.steps;
}

/** From its config to a member and a node. A machine whose config or version is not as desired may need that first. */
function planReturn(
  builder: PlanBuilder,
  machine: DesiredMachine,
  desired: DesiredCluster,
  observed: ObservedCluster,
  policy: Policy,
): void {
  const { name, role } = machine;
  const state = observed.machines.get(name)?.state;
  if (state?.kind === "maintenance") {
    if (role === "worker") builder.add(installOf(desired, machine));
  } else if (state?.kind !== "configured") return;
  else {
    const { talos, config } = machineWork(desired, machine, state);
    if (talos !== undefined || config !== undefined) return;
  }
  const after = [`apply-config/${name}`];
  if (role === "controlplane") after.push(builder.add({ kind: "join-etcd", machine: name }, after));
  if (usesKubernetes(policy)) builder.add({ kind: "join-kubernetes", machine: name }, after);
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
