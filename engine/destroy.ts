// SPDX-License-Identifier: Apache-2.0
import { type EngineOptions, withExclusiveContext } from "./engine.ts";
import { runSteps } from "./execute/run.ts";
import { refuseOtherOwner } from "./lock/ownership.ts";
import { planDestroy } from "./plan/plan.ts";
import { refuseDestroy } from "./plan/protection.ts";
import type { Step } from "./step.ts";

export type DestroyOptions = EngineOptions;

export interface DestroyResult {
  readonly steps: readonly Step[];
  /** Machines that could not be asked; whatever is on their disks is still there. */
  readonly unreachable: readonly string[];
}

/**
 * Takes a whole cluster down: every machine is wiped, all at once, without the care that a single one leaving needs.
 * Machines without our config are left alone, so that running it again does nothing.
 */
export async function destroyCluster(options: DestroyOptions): Promise<DestroyResult> {
  refuseDestroy(options.desired);
  return withExclusiveContext(options, "destroy the cluster", async (context) => {
    const observed = await context.observe();
    await refuseOtherOwner(context, observed, options.claim, { removes: true });
    const steps = planDestroy(context.desired, observed);
    // Machines that were counted before may be wiped already.
    context.emit({ type: "planned", message: `${steps.length} machines to wipe`, steps, coming: 0 });
    await runSteps(steps, context);
    const silent = [...observed.machines.values()].filter(({ state }) => state.kind === "unreachable");
    const unreachable: string[] = [];
    for (const { name } of silent) {
      // Looking cannot tell a wiped machine that boots nothing from one that is cut off; the journal can.
      if (await context.wasAccepted({ id: `reset/${name}` })) continue;
      unreachable.push(name);
      context.emit({ type: "warning", machine: name, message: `${name} does not answer and was not wiped` });
    }
    return { steps, unreachable };
  });
}
