// SPDX-License-Identifier: Apache-2.0
import {
  type DesiredCluster,
  etcdView,
  type HealthCondition,
  inReadingOrder,
  machineView,
  type ObservedCluster,
  quorumOf,
} from "../../engine/index.ts";
import type { CertificateRow, Condition, EtcdView, MachineRow } from "../shared/wire.ts";

/** The machines of a cluster as rows, from what was seen of them. */
export function machineRows(desired: DesiredCluster, observed: ObservedCluster): readonly MachineRow[] {
  return inReadingOrder(desired.machines).map((machine) => {
    const { stage, reason, talosVersion, kubeletVersion, etcd, ...view } = machineView(machine, observed);
    return {
      ...view,
      stage: reason ?? stage,
      talosVersion: talosVersion ?? null,
      kubeletVersion: kubeletVersion ?? null,
      etcd: etcd ?? null,
    };
  });
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
