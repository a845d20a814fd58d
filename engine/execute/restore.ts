// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { readSnapshot } from "../snapshot-file.ts";
import type { Step, StepOf } from "../step.ts";
import { describe } from "./join.ts";
import type { StepContext } from "./step-context.ts";
import { attempt } from "./wait.ts";

/** The machine keeps its config and loses its data, so that its etcd waits to be started or to join. */
export async function wipeEtcd(step: Step, context: StepContext): Promise<void> {
  const target = context.target(step.machine);
  let wipedFrom: string | undefined;
  await context.until(step, async () => {
    const state = await context.inspect(step.machine);
    if (state.kind !== "configured") return describe(state, "");
    if (state.etcd?.state === "waiting" && state.bootId !== wipedFrom && state.stage !== "resetting") return undefined;
    if (wipedFrom !== undefined) return describe(state, "it wipes its data and reboots");
    const refused = await attempt(() => context.machines.wipeData(target, context.signal));
    if (refused === undefined) wipedFrom = state.bootId;
    return refused ?? "it wipes its data and reboots";
  });
}

/** Uploads the snapshot and starts etcd from it. A machine that has members already has been restored before. */
export async function restoreEtcd(step: StepOf<"restore-etcd">, context: StepContext): Promise<void> {
  const target = context.target(step.machine);
  let begun = false;
  await context.until(step, async () => {
    const state = await context.inspect(step.machine);
    if (state.kind !== "configured") return describe(state, "");
    if (state.etcd?.state === "running" && state.etcd.members.length > 0) return undefined;
    if (begun) return describe(state, "etcd starts from the snapshot");
    const refused = await attempt(async () => {
      try {
        await context.machines.restore(target, readSnapshot(step.snapshot), context.signal);
      } catch (error) {
        // The answer to an earlier attempt was lost, and etcd is on its way.
        if (!(error instanceof TalosError) || error.code !== "already-exists") throw error;
      }
      begun = true;
    });
    return refused ?? "etcd starts from the snapshot";
  });
}
