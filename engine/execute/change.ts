// SPDX-License-Identifier: Apache-2.0
import { configChange } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { ApplyEffect } from "../machines.ts";
import type { ConfiguredMachine, MachineState } from "../observed.ts";
import { metaWork } from "../plan/first-contact.ts";
import { configHeldBack, configToJoin } from "../plan/next-config.ts";
import type { Step, StepOf } from "../step.ts";
import { describe, outageObstacle, untilConfigured } from "./join.ts";
import type { StepContext } from "./step-context.ts";
import { attempt } from "./wait.ts";

/** First config: sent in maintenance mode, done when the machine answers with it under our CA. */
export async function installConfig(step: StepOf<"apply-config">, context: StepContext): Promise<void> {
  const target = context.target(step.machine);
  const machine = context.desiredMachine(step.machine);
  const config = configToJoin(machine, await context.observeControlPlanes());
  let sent = false;
  await context.until(step, async () => {
    const state = await context.inspect(step.machine);
    if (state.kind === "configured") {
      if (state.stage === "installing" || state.config === undefined) return describe(state, "");
      return configChange(state.config, config) === undefined ? undefined : differs(state);
    }
    if (state.kind === "foreign")
      throw new TalosError("failed-precondition", `${step.machine}: ${describe(state, "")}`);
    if (sent) return "config applied, rebooting";
    if (state.kind === "unreachable") return describe(state, "");
    const refused = await attempt(async () => {
      const { warnings } = await context.machines.install(target, config, context.signal);
      sent = true;
      for (const message of warnings) context.emit({ type: "warning", message, machine: step.machine, step });
    });
    return refused ?? "config applied, rebooting";
  });
}

/** A change of a running machine's config. */
export async function applyConfig(
  step: StepOf<"apply-config">,
  effect: ApplyEffect,
  context: StepContext,
): Promise<void> {
  const target = context.target(step.machine);
  const wanted = context.desiredMachine(step.machine).config;
  let rebootedFrom: string | undefined;
  let accepted = false;
  await context.until(step, async () => {
    const state = await context.inspect(step.machine);
    if (state.kind !== "configured" || state.config === undefined) return describe(state, "", step);
    const config = configHeldBack(wanted, state.config);
    if (configChange(state.config, config) === undefined) return returned(state, rebootedFrom);
    // Until the reboot the old config is the active one.
    if (accepted && state.bootId === rebootedFrom) return "config applied, rebooting";
    if (effect === "reboot") {
      const obstacle = await outageObstacle(step.machine, context);
      if (obstacle !== undefined) return obstacle;
    }
    const refused = await attempt(async () => {
      // Before the call: the reply of a machine that reboots may get lost.
      if (effect === "reboot") rebootedFrom = state.bootId;
      accepted = false;
      const done = await context.machines.changeConfig(target, config, effect, context.signal);
      accepted = true;
      rebootedFrom = done === "reboot" ? state.bootId : undefined;
    });
    return refused ?? "applying config";
  });
}

/** After a reboot it must have booted anew; `before` is its boot id then, undefined when none was ordered. */
function returned(state: ConfiguredMachine, before: string | undefined): string | undefined {
  if (before !== undefined && state.bootId === before) return "rebooting";
  return state.stage === "running" ? undefined : describe(state, "");
}

function differs(state: MachineState): string {
  return describe(state, "it runs another config than the one that was applied");
}

/** Reboots a machine once, when the others can do without it, and waits until it runs again. */
export async function reboot(step: Step, context: StepContext): Promise<void> {
  const target = context.target(step.machine);
  let orderedAt: string | undefined;
  let accepted = false;
  await untilConfigured(step, context, async (state) => {
    if (orderedAt !== undefined && state.bootId !== orderedAt)
      return state.stage === "running" ? undefined : describe(state, "");
    // An order whose answer was lost is repeated only while the machine goes on as before.
    if (accepted || (orderedAt !== undefined && state.stage !== "running")) return "rebooting";
    const obstacle = await outageObstacle(step.machine, context);
    if (obstacle !== undefined) return obstacle;
    orderedAt = state.bootId;
    const refused = await attempt(() => context.machines.reboot(target, context.signal));
    accepted = refused === undefined;
    return refused ?? "rebooting";
  });
}

/** One that does not answer is off, or will not be stopped by a request either. */
export async function shutDown(step: Step, context: StepContext): Promise<void> {
  const target = context.target(step.machine);
  let accepted = false;
  await context.until(step, async () => {
    const state = await context.inspect(step.machine);
    if (state.kind !== "configured") return undefined;
    if (accepted) return "shutting down";
    const obstacle = await outageObstacle(step.machine, context);
    if (obstacle !== undefined) return obstacle;
    const refused = await attempt(() => context.machines.shutdown(target, context.signal));
    accepted = refused === undefined;
    return refused ?? "shutting down";
  });
}

/** A node may count as ready for a while after its machine went away, so the machine itself is asked. */
export async function awaitBoot(step: Step, context: StepContext): Promise<void> {
  await untilConfigured(step, context, async (state) => (state.stage === "running" ? undefined : describe(state, "")));
}

/** Writes what differs, key by key, and looks again. */
export async function writeMeta(step: Step, context: StepContext): Promise<void> {
  const machine = context.desiredMachine(step.machine);
  await untilConfigured(step, context, async (state) => {
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
    return refused ?? "writing META";
  });
}
