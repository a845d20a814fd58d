// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { type ConfiguredMachine, runsOtherSchematic } from "../observed.ts";
import { usesKubernetes } from "../policy.ts";
import type { StepOf } from "../step.ts";
import { describe, etcdReason, kubernetesReason, outageObstacle, untilConfigured } from "./join.ts";
import type { StepContext } from "./step-context.ts";
import { attempt } from "./wait.ts";

type UpgradeStep = StepOf<"upgrade-talos">;

/**
 * Another Talos: installed beside the old one, then a reboot. A machine that comes back as it was has rolled back by
 * itself; one that comes back but does not become healthy is made to, if the policy says so.
 */
export async function upgradeTalos(step: UpgradeStep, context: StepContext): Promise<void> {
  const upgraded = await installAndReboot(step, context);
  try {
    await context.until(step, () => unhealthyReason(step, context));
  } catch (error) {
    const ours = TalosError.from(error);
    if (!upgraded || !context.policy.revertFailedUpgrades || ours.code !== "deadline-exceeded") throw ours;
    throw await revert(step, context, ours);
  }
}

/** Returns whether it was this run that upgraded the machine. */
async function installAndReboot(step: UpgradeStep, context: StepContext): Promise<boolean> {
  const target = context.target(step.machine);
  let orderedAt: string | undefined;
  let accepted = false;
  await untilConfigured(step, context, async (state) => {
    if (isUpgraded(state, step)) {
      if (state.bootId === orderedAt) return "rebooting";
      return state.stage === "running" ? undefined : describe(state, "");
    }
    const rebooted = orderedAt !== undefined && state.bootId !== orderedAt;
    if (rebooted && state.stage === "running") {
      await returnToService(step, context);
      throw rolledBack(step, state);
    }
    // An order whose answer was lost may be under way all the same; only a machine that goes on as before gets another.
    if (orderedAt === undefined || (!accepted && !rebooted && state.stage === "running")) {
      const obstacle = await outageObstacle(step.machine, context);
      if (obstacle !== undefined) return obstacle;
      orderedAt = state.bootId;
      const refused = await attempt(() => context.machines.upgrade(target, step.image, context.signal));
      accepted = refused === undefined;
      if (refused !== undefined) return refused;
    }
    return describe(state, "installing the new version");
  });
  return orderedAt !== undefined;
}

function isUpgraded(state: ConfiguredMachine, { to, image }: UpgradeStep): boolean {
  return state.talosVersion === to && !runsOtherSchematic(image, state);
}

async function unhealthyReason({ machine }: UpgradeStep, context: StepContext): Promise<string | undefined> {
  const etcd = context.target(machine).role === "worker" ? undefined : await etcdReason(machine, context);
  if (etcd !== undefined || !usesKubernetes(context.policy)) return etcd;
  return kubernetesReason(machine, context);
}

function rolledBack({ machine, to, image }: UpgradeStep, state: ConfiguredMachine): TalosError {
  const found =
    state.talosVersion === to
      ? `the schematic ${state.schematic || "of a plain system"} instead of that of ${image}`
      : `Talos ${state.talosVersion} instead of ${to}`;
  return new TalosError(
    "failed-precondition",
    `${machine} came back with ${found}: the new system did not boot and the old one was taken again`,
    { node: machine, hint: "Look at the machine's console, and check that the image fits its hardware." },
  );
}

/** Boots the old system again and waits until it is back. Returns the error that tells why. */
async function revert(step: UpgradeStep, context: StepContext, cause: TalosError): Promise<TalosError> {
  const target = context.target(step.machine);
  let accepted = false;
  await untilConfigured(step, context, async (state) => {
    if (!isUpgraded(state, step)) return unhealthyReason(step, context);
    // Ordered twice, it would boot the new system again: only a machine that goes on as before gets another order.
    if (accepted || state.stage === "rebooting") return "rebooting into the previous version";
    const refused = await attempt(() => context.machines.rollback(target, context.signal));
    accepted = refused === undefined;
    return refused ?? "rebooting into the previous version";
  });
  await returnToService(step, context);
  return new TalosError(
    "failed-precondition",
    `${step.machine} did not become healthy with ${step.image} and was taken back to the system before: ${cause.message}`,
    { node: step.machine, hint: "Find the cause before the next attempt; the other machines were not touched.", cause },
  );
}

/** It runs as before, so pods may run on it again. */
async function returnToService(step: UpgradeStep, context: StepContext): Promise<void> {
  if (!usesKubernetes(context.policy)) return;
  await context.untilDone(step, () => context.machines.kubernetes.uncordon(step.machine, context.signal));
}
