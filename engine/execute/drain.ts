// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import type { Step, StepOf } from "../step.ts";
import { outageObstacle } from "./join.ts";
import type { StepContext } from "./step-context.ts";

/**
 * Moves the pods away; what stays after the time that it has is dealt with as the policy says. After a failure the machine
 * takes pods again: a cordon that is left tells the next run that the machine's work has begun, and needs no gate.
 */
export async function drain(step: Step, context: StepContext): Promise<void> {
  try {
    await movePods(step, context);
  } catch (error) {
    // A run that was stopped is taken up where it was.
    if (!context.signal?.aborted)
      await context.machines.kubernetes.uncordon(step.machine, context.signal).catch(() => {});
    throw error;
  }
}

async function movePods(step: Step, context: StepContext): Promise<void> {
  const { kubernetes } = context.machines;
  const leaves = context.desired.leaving.some(({ name }) => name === step.machine);
  try {
    await context.until(step, async () => {
      // A machine that leaves for good is not one that is away for a while.
      const obstacle = leaves ? undefined : await outageObstacle(step.machine, context);
      return obstacle ?? kubernetes.drain(step.machine, "evict", context.signal);
    });
  } catch (error) {
    const ours = TalosError.from(error);
    const { stuckPods } = context.policy;
    // A pod that no eviction will ever move is not worth the wait.
    const isStuck = ours.code === "deadline-exceeded" || ours.code === "failed-precondition";
    if (!isStuck || stuckPods === "fail") throw ours;
    const obstacle = leaves ? undefined : await outageObstacle(step.machine, context);
    if (obstacle !== undefined) throw ours;
    context.emit({ type: "warning", message: `${ours.message}; ${words[stuckPods]}`, machine: step.machine, step });
    if (stuckPods === "delete") {
      await context.until(step, () => kubernetes.drain(step.machine, "delete", context.signal));
    }
  }
}

const words = { delete: "its pods are deleted now", leave: "its pods go down with it" } as const;

export async function cordon(step: Step, context: StepContext): Promise<void> {
  await context.untilDone(step, () => context.machines.kubernetes.setSchedulable(step.machine, false, context.signal));
}

export async function uncordon(step: StepOf<"uncordon">, context: StepContext): Promise<void> {
  const { kubernetes } = context.machines;
  await context.untilDone(step, () =>
    step.anyones
      ? kubernetes.setSchedulable(step.machine, true, context.signal)
      : kubernetes.uncordon(step.machine, context.signal),
  );
}
