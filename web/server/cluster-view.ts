// SPDX-License-Identifier: Apache-2.0
import {
  type DesiredCluster,
  etcdView,
  type HealthCondition,
  type KubernetesNode,
  type MachineState,
  type ObservedCluster,
  quorumOf,
  type Step,
} from "../../talos/cluster/index.ts";
import type { CertificateRow, Condition, EtcdView, MachineRow } from "../shared/wire.ts";
import { plannedStep } from "./operations.ts";

/** The machines of a cluster as rows, from what was seen of them. */
export function machineRows(desired: DesiredCluster, { machines, kubernetes }: ObservedCluster): readonly MachineRow[] {
  const nodes = kubernetes.kind === "reachable" ? kubernetes.nodes : [];
  return desired.machines.map(({ name, role, address }) => {
    const state: MachineState = machines.get(name)?.state ?? { kind: "unreachable", reason: "not asked yet" };
    const node = nodes.find((candidate) => candidate.name === name);
    return {
      name,
      role,
      address,
      health: healthOf(state, node),
      stage: state.kind === "configured" ? state.stage : state.kind === "maintenance" ? state.kind : state.reason,
      talosVersion:
        (state.kind === "configured" || state.kind === "maintenance" ? state.talosVersion : undefined) ?? null,
      kubeletVersion: node?.kubeletVersion ?? null,
      cordoned: node?.unschedulable ?? false,
      etcd: etcdRole(state),
    };
  });
}

function healthOf(state: MachineState, node: KubernetesNode | undefined): MachineRow["health"] {
  if (state.kind === "unreachable" || state.kind === "foreign") return "unreachable";
  if (state.kind === "maintenance") return "maintenance";
  return state.ready && node?.ready === true ? "ready" : "starting";
}

function etcdRole(state: MachineState): MachineRow["etcd"] {
  if (state.kind !== "configured" || state.etcd === undefined) return null;
  const { state: word, memberId, leaderId, members } = state.etcd;
  if (word !== "running") return word;
  if (memberId !== undefined && memberId === leaderId) return "leader";
  return members.find(({ id }) => id === memberId)?.learner ? "learner" : "member";
}

/** etcd as the best informed member sees it; null while none answers. */
export function etcdRows(observed: ObservedCluster): EtcdView | null {
  const view = etcdView(observed);
  if (view === undefined) return null;
  const members = view.members.map(({ id, hostname, learner }) => ({
    id,
    name: hostname,
    learner,
    leader: id === view.leaderId,
    healthy: view.healthy.has(id),
  }));
  const voters = members.filter(({ learner }) => !learner);
  const healthy = voters.filter((member) => member.healthy).length;
  const quorum = quorumOf(voters.length);
  return { members, voters: voters.length, healthy, quorum, spare: healthy - quorum };
}

/** A condition keeps its age for as long as it stays in its state. */
export function agedConditions(
  found: readonly HealthCondition[],
  before: readonly Condition[],
  now: Date,
): readonly Condition[] {
  return found.map(({ name, state, reason }) => {
    const known = before.find((condition) => condition.name === name && condition.state === state);
    return { name, state, reason: reason ?? null, since: known?.since ?? now.toISOString() };
  });
}

const day = 24 * 60 * 60 * 1000;

export function certificateRows(
  certificates: readonly { readonly name: string; readonly expiresAt: Date }[],
  now: Date,
): readonly CertificateRow[] {
  return certificates.map(({ name, expiresAt }) => ({
    name,
    expiresAt: expiresAt.toISOString(),
    daysLeft: Math.floor((expiresAt.getTime() - now.getTime()) / day),
  }));
}

export const pendingSteps = (steps: readonly Step[]) => steps.map(plannedStep);
