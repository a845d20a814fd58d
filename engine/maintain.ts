// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../talos/errors.ts";
import type { DesiredCluster } from "./desired.ts";
import { type EngineOptions, withExclusiveContext } from "./engine.ts";
import { runSteps } from "./execute/run.ts";
import { refuseOtherOwner } from "./lock/ownership.ts";
import type { ObservedCluster } from "./observed.ts";
import { PlanBuilder } from "./plan/plan-builder.ts";
import { planGate } from "./plan/plan-caution.ts";
import { nodeOf } from "./plan/quorum.ts";
import type { Policy } from "./policy.ts";
import type { Step, StepAction } from "./step.ts";

/** What a person does to a single machine that stays what it is. */
export type Maintenance = "reboot" | "cordon" | "uncordon" | "drain";

/**
 * The steps, in order. What takes a machine out of service waits for windows and gates, as in a rollout. A reboot drains under our mark, so that the next apply finishes what is left of a run that was
 * killed; a person's cordon stays until a person lifts it.
 */
export function planMaintenance(
  work: Maintenance,
  machine: string,
  desired: Pick<DesiredCluster, "machines" | "nodesBecomeReady">,
  observed: ObservedCluster,
  policy: Policy,
): readonly Step[] {
  const found = desired.machines.find(({ name }) => name === machine);
  if (found === undefined) throw new TalosError("not-found", `no machine ${machine} in this cluster`);
  const node = nodeOf(observed, machine);
  if (work !== "reboot" && node === undefined) {
    throw new TalosError("failed-precondition", `${machine} is no node that Kubernetes knows now`, {
      hint: "Wait until the Kubernetes API answers and the node is in it.",
    });
  }
  const cordoned = node?.unschedulable === true;
  const free = cordoned && !node.cordonedByUs;
  const on = <K extends StepAction["kind"]>(kind: K, when = true) => (when ? [{ kind, machine }] : []);
  const actions: readonly StepAction[] = {
    cordon: on("cordon", !cordoned),
    uncordon: cordoned ? [{ kind: "uncordon" as const, machine, anyones: true as const }] : [],
    drain: [...on("cordon", !cordoned), ...on("drain")],
    reboot: [
      ...on("drain", node !== undefined),
      ...on("reboot"),
      ...on("join-etcd", found.role === "controlplane"),
      ...on("join-kubernetes", desired.nodesBecomeReady),
      ...on("uncordon", node !== undefined && !free),
    ],
  }[work];
  const builder = new PlanBuilder();
  const gated = (work === "reboot" || work === "drain") && node?.cordonedByUs !== true;
  let last = gated ? planGate(builder, policy, machine, "change", []) : [];
  for (const action of actions) last = [builder.add(action, last)];
  return builder.steps;
}

/** Does it, alone on the cluster, and waits until its effect can be seen. A cluster of another state is refused. */
export async function maintainMachine(work: Maintenance, machine: string, options: EngineOptions): Promise<void> {
  await withExclusiveContext(options, `${work} ${machine}`, async (context) => {
    const observed = await context.observe();
    await refuseOtherOwner(context, observed, options.claim);
    const steps = planMaintenance(work, machine, context.desired, observed, context.policy);
    context.emit({ type: "planned", message: `${steps.length} steps`, steps });
    await runSteps(steps, context);
  });
}
