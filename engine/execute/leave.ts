// SPDX-License-Identifier: Apache-2.0

import { TalosError } from "../../talos/errors.ts";
import { undefinedIf } from "../failures.ts";
import type { MachineTarget } from "../machines.ts";
import type { ConfiguredMachine } from "../observed.ts";
import { readsUserData } from "../plan/first-contact.ts";
import { configured, etcdView, holdsSilentEtcd, survivesRemoval } from "../plan/quorum.ts";
import type { Step, StepOf } from "../step.ts";
import type { StepContext } from "./step-context.ts";
import { attempt } from "./wait.ts";

export async function deleteNode(step: Step, context: StepContext): Promise<void> {
  await context.untilDone(step, () => context.machines.kubernetes.deleteNode(step.machine, context.signal));
}

export async function forfeitLeadership(step: Step, context: StepContext): Promise<void> {
  const target = context.target(step.machine);
  await context.until(step, async () => {
    const state = await context.inspect(step.machine);
    const etcd = state.kind === "configured" ? state.etcd : undefined;
    if (etcd?.memberId === undefined || etcd.leaderId !== etcd.memberId) return undefined;
    const refused = await attempt(() => context.machines.forfeitLeadership(target, context.signal));
    return refused ?? "another member takes over";
  });
}

/** Through a healthy member, and only while the rest can go on without the dead one. */
export async function removeEtcdMember(step: StepOf<"remove-etcd-member">, context: StepContext): Promise<void> {
  await context.until(step, async () => {
    const observed = await context.observeControlPlanes();
    const view = etcdView(observed);
    if (view === undefined) return "no etcd member answers";
    if (!view.members.some(({ id }) => id === step.memberId)) return undefined;
    if (!survivesRemoval(view, step.machine)) return "etcd would lose its quorum; waiting for other members";
    const via = [...context.desired.machines, ...context.desired.leaving].find(
      (machine): machine is MachineTarget & typeof machine => {
        const memberId = configured(observed.machines.get(machine.name))?.etcd?.memberId;
        return memberId !== undefined && memberId !== step.memberId && view.healthy.has(memberId);
      },
    );
    if (via === undefined) return "no healthy etcd member can be asked";
    const removing = () => context.machines.removeEtcdMember(via, step.memberId, context.signal);
    const refused = await attempt(() => removing().catch(undefinedIf("not-found")));
    return refused ?? "the member is being removed";
  });
}

/**
 * Done when the machine is back without a config, or has been silent long enough to have wiped what it boots from. Where
 * it was not known beforehand that a machine reads its config from user-data, it is wiped once more and stays off.
 */
export async function reset(step: StepOf<"reset">, context: StepContext): Promise<void> {
  const target = context.target(step.machine);
  let accepted = false;
  let seeded = false;
  let wipedFrom: string | undefined;
  let silentSince: number | undefined;
  await context.until(step, async () => {
    const state = await context.inspect(step.machine);
    if (state.kind === "maintenance") return undefined;
    if (state.kind === "foreign") throw foreignAfter(wipedFrom !== undefined, step.machine, state.reason);
    if (state.kind === "unreachable") {
      silentSince ??= context.timing.elapsed();
      // Also where the answer to the second wipe was lost: it is off, and never comes back.
      if (wipedFrom !== undefined && context.timing.elapsed() - silentSince >= context.timeouts.resetSilence)
        return undefined;
      return accepted ? "wiping its disk" : `not reachable: ${state.reason}`;
    }
    silentSince = undefined;
    // Without a config it has only begun to boot, over a connection from before.
    const isBack = state.bootId !== wipedFrom && state.stage !== "resetting" && state.config !== undefined;
    if (accepted && isBack) {
      context.emit({
        type: "warning",
        machine: step.machine,
        message: `${step.machine} has read its config from user-data again: it is wiped once more, and stays off`,
      });
      accepted = false;
      seeded = true;
    }
    if (accepted || state.stage === "resetting") return "wiping its disk";
    if (step.graceful && target.role === "controlplane") {
      const leaving = await leaveEtcd(target, state, context);
      if (leaving !== undefined) return leaving;
    }
    const graceful = step.graceful && target.role === "worker";
    const how = { graceful, reboot: !seeded && !readsUserData(context.desired) };
    const refused = await attempt(() => context.machines.reset(target, how, context.signal));
    if (refused === undefined) {
      accepted = true;
      wipedFrom = state.bootId;
      await context.record(step, "accepted");
    }
    return refused ?? "wiping its disk";
  });
}

function foreignAfter(wiped: boolean, machine: string, reason: string): TalosError {
  if (!wiped) return new TalosError("failed-precondition", `${machine}: ${reason}`);
  const message = `${machine} was wiped, but runs again with a config of other CAs, which it has read from user-data`;
  const hint = "Switch it off, or renew its user-data; then run the same command again.";
  return new TalosError("failed-precondition", message, { node: machine, hint });
}

/**
 * Out of etcd first, by a call of its own that can be seen to have worked: a reset alone leaves etcd only on some
 * platforms. Undefined when the machine is no member (any more).
 */
async function leaveEtcd(
  target: MachineTarget,
  state: ConfiguredMachine,
  context: StepContext,
): Promise<string | undefined> {
  const view = etcdView(await context.observeControlPlanes());
  if (holdsSilentEtcd(view, state)) return "no etcd member answers";
  if (view === undefined || !view.members.some(({ hostname }) => hostname === target.name)) return undefined;
  if (!survivesRemoval(view, target.name)) return "etcd would lose its quorum; waiting for other members";
  return (await attempt(() => context.machines.leaveEtcd(target, context.signal))) ?? "it leaves etcd";
}
