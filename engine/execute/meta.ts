// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { metaWork } from "../plan/plan-meta.ts";
import type { Step } from "../step.ts";
import { describe } from "./join.ts";
import type { StepContext } from "./step-context.ts";
import { attempt } from "./wait.ts";

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
