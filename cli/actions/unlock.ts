// SPDX-License-Identifier: Apache-2.0
import { breakLock, type LockState, lockState } from "../../engine/index.ts";
import { clearAbandonedState } from "../../workspace/terraform/abandoned-state.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import { type ApprovalFlags, approved } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { jsonText } from "../output/table.ts";

interface UnlockFlags extends ApprovalFlags {
  readonly json: boolean;
}

export async function unlock(name: string, flags: UnlockFlags, context: CommandContext): Promise<void> {
  const workspace = openWorkspace(name, context, { warn: true, existing: true });
  if (await clearAbandonedState(workspace)) return;
  const { desired, secrets } = await workspace.deployed();
  const options = { desired, secrets, signal: context.signal };
  const state = await lockState(options);
  const isHeld = state.local !== undefined || state.lease !== undefined;
  // Who is asked must see whose lock it is.
  if (!flags.json || isHeld) for (const line of describe(state)) context.stderr.write(`${line}\n`);
  if (!isHeld) {
    if (flags.json) context.stdout.write(jsonText({ v: 1, ...state, unlocked: false }));
    return;
  }
  const question = `If that run is still alive, two runs will change ${name} at once, and etcd may lose its quorum.\nTake the lock away?`;
  if (!(await approved(question, name, flags, context))) return;
  await breakLock(options);
  if (flags.json) context.stdout.write(jsonText({ v: 1, ...state, unlocked: true }));
  else context.stderr.write(`${name} is unlocked.\n`);
}

function describe({ local, lease, leaseUnknown }: LockState): string[] {
  const lines: string[] = [];
  if (local !== undefined) {
    const state = local.alive ? "which is alive" : "which has died: the next run takes its lock over by itself";
    lines.push(`On ${local.elsewhere ?? "this computer"}: process ${local.pid}, since ${local.since}, ${state}.`);
  }
  if (lease !== undefined) {
    const state = lease.expired
      ? "expired: the next run takes it over by itself"
      : "not expired: its holder may be alive";
    lines.push(`In the cluster: ${lease.holder}, last heard of at ${lease.renewed}, ${state}.`);
  }
  if (leaseUnknown !== undefined) lines.push(`The cluster's own lock could not be read: ${leaseUnknown}`);
  return lines.length === 0 ? ["Nobody holds it."] : lines;
}
