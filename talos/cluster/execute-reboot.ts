// SPDX-License-Identifier: Apache-2.0
import { describe } from "./execute-join.ts";
import { outageObstacle } from "./outage.ts";
import type { Step } from "./step.ts";
import type { StepContext } from "./step-context.ts";
import { attempt } from "./wait.ts";

/** Reboots a machine once, when the others can do without it, and waits until it runs again. */
export async function reboot(step: Step, context: StepContext): Promise<void> {
  const target = context.target(step.machine);
  let orderedAt: string | undefined;
  await context.until(step, async () => {
    const state = await context.inspect(step.machine);
    if (state.kind !== "configured") return describe(state, "");
    if (orderedAt === undefined) {
      const obstacle = await outageObstacle(step.machine, context);
      if (obstacle !== undefined) return obstacle;
      const refused = await attempt(() => context.machines.reboot(target, context.signal));
      // An order whose answer was lost is repeated only while the machine goes on as before.
      if (refused !== undefined) return refused;
      orderedAt = state.bootId;
    }
    if (state.bootId === orderedAt) return "it has not rebooted yet";
    return state.stage === "running" ? undefined : describe(state, "");
  });
}
