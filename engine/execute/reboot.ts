// SPDX-License-Identifier: Apache-2.0

import { TalosError } from "../../talos/errors.ts";
import { outageObstacle } from "../plan/outage.ts";
import { metaWork } from "../plan/plan-meta.ts";
import type { Step } from "../step.ts";
import { describe } from "./join.ts";
import type { StepContext } from "./step-context.ts";
import { attempt } from "./wait.ts";

/** Reboots a machine once, when the others can do without it, and waits until it runs again. */
export async function reboot(step: Step, context: StepContext): Promise<void> {
  const target = context.target(step.machine);
  let orderedAt: string | undefined;
  let accepted = false;
  await context.until(step, async () => {
    const state = await context.inspect(step.machine);
    if (state.kind !== "configured") return describe(state, "");
    if (orderedAt !== undefined && state.bootId !== orderedAt)
      return state.stage === "running" ? undefined : describe(state, "");
    // An order whose answer was lost is repeated only while the machine goes on as before.
    if (accepted || (orderedAt !== undefined && state.stage !== "running")) return "it has not rebooted yet";
    const obstacle = await outageObstacle(step.machine, context);
    if (obstacle !== undefined) return obstacle;
    orderedAt = state.bootId;
    const refused = await attempt(() => context.machines.reboot(target, context.signal));
    accepted = refused === undefined;
    return refused ?? "it has not rebooted yet";
  });
}

/** Writes what differs, key by key, and looks again. */
export async function writeMeta(step: Step, context: StepContext): Promise<void> {
  const machine = context.desiredMachine(step.machine);
  await context.until(step, async () => {
    const state = await context.inspect(step.machine);
    if (state.kind !== "configured") return describe(state, "");
    if (state.meta === undefined) {
      throw new TalosError("failed-precondition", `${step.machine} does not tell its META keys`, {
        node: step.machine,
      });
    }
    const keys = metaWork(machine, state);
    if (keys.length === 0) return undefined;
    const refused = await attempt(async () => {
      for (const key of keys)
        await context.machines.writeMeta(machine, key, machine.meta?.[String(key)] ?? "", context.signal);
    });
    return refused ?? "META is being written";
  });
}
