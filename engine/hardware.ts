// SPDX-License-Identifier: Apache-2.0
import type { DesiredCluster } from "./desired.ts";
import { type EngineOptions, withContext, withExclusiveContext } from "./engine.ts";
import { runSteps } from "./execute/run.ts";
import { refuseOtherOwner } from "./lock/ownership.ts";
import type { ObservedCluster } from "./observed.ts";
import { PlanBuilder } from "./plan/plan-builder.ts";
import { planGate } from "./plan/plan-caution.ts";
import { holderLast, nodeOf } from "./plan/quorum.ts";
import { type Policy, usesKubernetes } from "./policy.ts";
import type { Step, StepAction } from "./step.ts";

/** Around a change of machines that is made from outside, such as more memory: what is done before it, and after it. */
export type HardwareWork = "take-down" | "shut-down" | "bring-back";

/**
 * The steps of each machine, side by side. A machine is drained under our mark, so that the next run finishes what is left of
 * one that was killed, and waits for windows and gates as in a rollout.
 */
export function planHardwareWork(
  work: HardwareWork,
  names: readonly string[],
  desired: Pick<DesiredCluster, "machines" | "nodesBecomeReady">,
  observed: ObservedCluster,
  policy: Policy,
): readonly Step[] {
  const builder = new PlanBuilder();
  const runs = usesKubernetes(policy);
  for (const { name: machine, role } of desired.machines.filter(({ name }) => names.includes(name))) {
    const node = nodeOf(observed, machine);
    const on = <K extends StepAction["kind"]>(kind: K, when = true) => (when ? [{ kind, machine } as StepAction] : []);
    const drain = on("drain", node !== undefined);
    const actions: Readonly<Record<HardwareWork, readonly StepAction[]>> = {
      "take-down": drain,
      "shut-down": [...drain, ...on("shut-down")],
      "bring-back": [
        ...on("await-boot"),
        ...on("join-etcd", role === "controlplane"),
        ...on("join-kubernetes", runs && desired.nodesBecomeReady),
        // Where the API is away now, whether to uncordon is seen when it is done: never the cordon of a person.
        ...on("uncordon", runs && (node === undefined || node.cordonedByUs)),
      ],
    };
    const gated = work !== "bring-back" && node?.cordonedByUs !== true;
    let last = gated ? planGate(builder, policy, machine, "change", []) : [];
    for (const action of actions[work]) last = [builder.add(action, last)];
  }
  return builder.steps;
}

/** Does it, alone on the cluster. A cluster of another state is refused. */
export async function workOnHardware(
  work: HardwareWork,
  names: readonly string[],
  options: EngineOptions,
): Promise<void> {
  await withExclusiveContext(options, `${work} ${names.join(", ")}`, async (context) => {
    const observed = await context.observe();
    await refuseOtherOwner(context, observed, options.claim);
    const steps = planHardwareWork(work, names, context.desired, observed, context.policy);
    context.emit({ type: "planned", message: `${steps.length} steps`, steps });
    await runSteps(steps, context);
  });
}

/** What decides in which order machines are changed. */
export interface HardwareOrder {
  /** Machines that an earlier run has drained and not uncordoned. None where Kubernetes does not answer. */
  readonly drained: ReadonlySet<string>;
  /** As in an upgrade: the control plane that answers for the shared address comes last. */
  holderLast<T extends { readonly name: string }>(machines: readonly T[]): readonly T[];
  /** How many steps a work on these machines will have once its turn has come, for progress. */
  stepsOf(work: HardwareWork, names: readonly string[]): number;
}

/** Observes the cluster before its hardware is changed. */
export async function hardwareOrder(options: EngineOptions): Promise<HardwareOrder> {
  return withContext(options, async (context) => {
    const observed = await context.observe();
    const drained = context.desired.machines.filter(({ name }) => nodeOf(observed, name)?.cordonedByUs === true);
    return {
      drained: new Set(drained.map(({ name }) => name)),
      holderLast: (machines) => holderLast(machines, observed, (machine) => machine),
      stepsOf: (work, names) => {
        const then = work === "bring-back" ? drainedByUs(observed) : observed;
        return planHardwareWork(work, names, context.desired, then, context.policy).length;
      },
    };
  });
}

/** As machines are found before they are brought back. */
function drainedByUs({ kubernetes, ...rest }: ObservedCluster): ObservedCluster {
  if (kubernetes.kind === "unreachable") return { ...rest, kubernetes };
  const nodes = kubernetes.nodes.map((node) => (node.unschedulable ? node : { ...node, cordonedByUs: true }));
  return { ...rest, kubernetes: { ...kubernetes, nodes } };
}
