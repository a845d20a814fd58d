// SPDX-License-Identifier: Apache-2.0
import type { ConfiguredMachine, EtcdMember, KubernetesNode, ObservedCluster, ObservedMachine } from "../observed.ts";

export interface EtcdView {
  readonly members: readonly EtcdMember[];
  readonly leaderId: string | undefined;
  /** Ids of the voters that answer, are healthy and are on machines that stay up. */
  readonly healthy: ReadonlySet<string>;
}

/** Majority of so many voters. */
export function quorumOf(voters: number): number {
  return Math.floor(voters / 2) + 1;
}

/** etcd of the whole cluster: the membership of a member that leads or follows, and who of them is well. */
export function etcdView(observed: ObservedCluster): EtcdView | undefined {
  const running = [...observed.machines.values()].flatMap((machine) => {
    const etcd = configured(machine)?.etcd;
    return etcd?.state === "running" && etcd.members.length > 0 ? [{ machine, etcd }] : [];
  });
  // The member that knows a leader and the most members has the newest view that we can get without asking again.
  const best = running
    .sort(
      (a, b) => Number(hasLeader(b.etcd)) - Number(hasLeader(a.etcd)) || b.etcd.members.length - a.etcd.members.length,
    )
    .at(0);
  if (best === undefined) return undefined;
  const healthy = new Set<string>();
  for (const { machine, etcd } of running) {
    const member = best.etcd.members.find(({ id }) => id === etcd.memberId);
    if (member !== undefined && !member.learner && etcd.healthy && staysUp(machine)) healthy.add(member.id);
  }
  return { members: best.etcd.members, leaderId: best.etcd.leaderId, healthy };
}

/** Whether the others keep quorum while this machine is down for a while. A single member has none to lose. */
export function survivesOutage(view: EtcdView, machine: string): boolean {
  const voters = view.members.filter((member) => !member.learner);
  if (voters.length === 1) return true;
  const without = voters.filter((member) => member.hostname !== machine && view.healthy.has(member.id));
  return without.length >= quorumOf(voters.length);
}

/** Whether this machine's member may be taken out of etcd for good. The last voter never may. */
export function survivesRemoval(view: EtcdView, machine: string): boolean {
  const voters = view.members.filter((member) => !member.learner);
  const remaining = voters.filter((member) => member.hostname !== machine);
  if (remaining.length === 0) return false;
  const healthy = voters.filter((member) => view.healthy.has(member.id));
  const healthyRemaining = remaining.filter((member) => view.healthy.has(member.id));
  // The removal itself needs the consent of a majority, and the rest must be able to go on.
  return healthy.length >= quorumOf(voters.length) && healthyRemaining.length >= quorumOf(remaining.length);
}

/** Whether a machine has data of an etcd of which no member answers: it may be what the others need to come back. */
export function holdsSilentEtcd(view: EtcdView | undefined, { etcd }: Pick<ConfiguredMachine, "etcd">): boolean {
  return view === undefined && etcd?.state === "down";
}

/** The view as it will be when this member has been removed. */
export function withoutMember(view: EtcdView, id: string): EtcdView {
  return {
    members: view.members.filter((member) => member.id !== id),
    leaderId: view.leaderId === id ? undefined : view.leaderId,
    healthy: new Set([...view.healthy].filter((healthy) => healthy !== id)),
  };
}

/**
 * Control planes in the order in which they are changed. The one that answers for the shared address comes last: while it
 * is down no API server answers there, so everything else should have proved itself by then.
 */
export function holderLast<T>(
  planes: readonly T[],
  observed: ObservedCluster,
  machineOf: (plane: T) => { readonly name: string },
): readonly T[] {
  const holds = (plane: T) => configured(observed.machines.get(machineOf(plane).name))?.sharedAddress !== undefined;
  return [...planes.filter((plane) => !holds(plane)), ...planes.filter(holds)];
}

/** The shared address that a machine answers for; undefined where it is the only control plane. */
export function heldAddress(
  { machines }: { readonly machines: readonly { readonly role: string }[] },
  observed: ObservedCluster,
  name: string,
): string | undefined {
  if (machines.filter(({ role }) => role === "controlplane").length === 1) return undefined;
  return configured(observed.machines.get(name))?.sharedAddress;
}

export function configured(machine: ObservedMachine | undefined): ConfiguredMachine | undefined {
  return machine?.state.kind === "configured" ? machine.state : undefined;
}

/** A plan looks up every machine's node several times: in a list that would grow with the square of their number. */
const nodesByName = new WeakMap<readonly KubernetesNode[], ReadonlyMap<string, KubernetesNode>>();

export function nodeOf({ kubernetes }: ObservedCluster, name: string): KubernetesNode | undefined {
  if (kubernetes.kind === "unreachable") return undefined;
  const { nodes } = kubernetes;
  const byName = nodesByName.get(nodes) ?? new Map(nodes.map((node) => [node.name, node]));
  nodesByName.set(nodes, byName);
  return byName.get(name);
}

/** A rebooting machine counts as down. A cordon says nothing about etcd: it only keeps pods away. */
function staysUp(machine: ObservedMachine): boolean {
  const stage = configured(machine)?.stage;
  return stage === "running" || stage === "booting";
}

function hasLeader(etcd: { readonly leaderId?: string }): boolean {
  return etcd.leaderId !== undefined && etcd.leaderId !== "0";
}
