// SPDX-License-Identifier: Apache-2.0
import type { DesiredCluster } from "../desired.ts";
import type { ObservedCluster } from "../observed.ts";
import type { Policy } from "../policy.ts";
import type { PlanBuilder } from "./plan-builder.ts";
import { planGate } from "./plan-caution.ts";
import { configured, etcdView, holdsSilentEtcd, nodeOf, survivesRemoval, withoutMember } from "./quorum.ts";

/**
 * Takes away what dead machines left behind: the etcd member and the Node of a machine that is empty again, or of one
 * that should leave and does not answer. Before anything else, because dead members weaken the quorum.
 */
export function planRepairs(builder: PlanBuilder, desired: DesiredCluster, observed: ObservedCluster): void {
  const dead = [
    ...desired.machines.filter(({ name }) => observed.machines.get(name)?.state.kind === "maintenance"),
    ...desired.leaving.filter(({ name }) => configured(observed.machines.get(name)) === undefined),
  ];
  let view = etcdView(observed);
  let previous: readonly string[] = [];
  for (const { name } of dead) {
    for (const member of view?.members ?? []) {
      if (view === undefined || member.hostname !== name || !survivesRemoval(view, name)) continue;
      // One after the other: each removal changes what the next one needs.
      previous = [builder.add({ kind: "remove-etcd-member", machine: name, memberId: member.id }, previous)];
      view = withoutMember(view, member.id);
    }
    if (nodeOf(observed, name) !== undefined) builder.add({ kind: "delete-node", machine: name }, previous);
  }
}

/** Machines that should go, one after another: away with the pods, out of etcd, wiped, forgotten. */
export function planLeaving(
  builder: PlanBuilder,
  desired: DesiredCluster,
  observed: ObservedCluster,
  policy: Policy,
): void {
  let view = etcdView(observed);
  let last: readonly string[] = [];
  const staysOff = desired.configSource === "user-data";
  for (const { name, role } of desired.leaving) {
    const state = configured(observed.machines.get(name));
    if (state === undefined) continue;
    if (holdsSilentEtcd(view, state)) continue;
    const member = role === "controlplane" ? view?.members.find(({ hostname }) => hostname === name) : undefined;
    const leads = member !== undefined && view?.leaderId === member.id;
    if (view !== undefined && member !== undefined) {
      if (!survivesRemoval(view, name)) continue;
      view = withoutMember(view, member.id);
    }
    const node = nodeOf(observed, name);
    if (node?.cordonedByUs !== true) last = planGate(builder, policy, name, "leave", last);
    if (leads) last = [builder.add({ kind: "forfeit-leadership", machine: name }, last)];
    if (node !== undefined) last = [builder.add({ kind: "drain", machine: name }, last)];
    last = [builder.add({ kind: "reset", machine: name, graceful: true, staysOff }, last)];
    if (node !== undefined) last = [builder.add({ kind: "delete-node", machine: name }, last)];
  }
}
