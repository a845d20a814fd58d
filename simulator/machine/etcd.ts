// SPDX-License-Identifier: Apache-2.0

import { given } from "../../talos/given.ts";
import { randomHex } from "./chance.ts";
import type { Moment } from "./timings.ts";
import type { Cluster, EtcdCluster, EtcdMember, Machine, World } from "./world.ts";

export function etcdMemberOf(cluster: Cluster | undefined, machineId: string): EtcdMember | undefined {
  return cluster?.etcd?.members.find((member) => member.machine === machineId);
}

/** True when the member's process runs (whether or not the cluster has a quorum). */
export function memberRuns(world: World, member: EtcdMember): boolean {
  const machine = world.machines[member.machine];
  return machine?.services.etcd?.stage === "Running" && machine.disk.etcd?.memberId === member.id;
}

/** The voters that run. */
export function runningVoters(world: World, etcd: EtcdCluster): readonly EtcdMember[] {
  return etcd.members.filter((member) => !member.learner && memberRuns(world, member));
}

export function hasQuorum(world: World, etcd: EtcdCluster): boolean {
  const voters = etcd.members.filter((member) => !member.learner).length;
  return runningVoters(world, etcd).length > voters / 2;
}

/** etcd lets a voter go when the others that run are a quorum of what remains. */
export function mayRemove(world: World, etcd: EtcdCluster, { id, learner }: EtcdMember): boolean {
  return learner || hasQuorum(world, { ...etcd, members: etcd.members.filter((member) => member.id !== id) });
}

/** Reads and writes work: there is a quorum and a leader. */
export function isServing(world: World, cluster: Cluster | undefined): boolean {
  return cluster?.etcd?.leader !== undefined && hasQuorum(world, cluster.etcd);
}

/** A member of etcd as a machine begins to be one. */
export function newMember(machine: Machine, name: string, learner: boolean, { entropy, now }: Moment): EtcdMember {
  return { id: randomHex(entropy, 8), machine: machine.id, name, address: machine.address, learner, joinedAt: now };
}

/** The cluster that one control plane starts from nothing, or from a snapshot. */
export function bootstrapEtcd(member: EtcdMember): EtcdCluster {
  return { members: [member], leader: member.id, term: 2, index: 4 };
}

export function addLearner(etcd: EtcdCluster, member: EtcdMember): EtcdCluster {
  return { ...etcd, members: [...etcd.members, { ...member, learner: true }], index: etcd.index + 1 };
}

export function promote(etcd: EtcdCluster, id: string): EtcdCluster {
  const members = etcd.members.map((member) => (member.id === id ? { ...member, learner: false } : member));
  return { ...etcd, members, index: etcd.index + 1 };
}

/** Takes a member out; a leader that goes leaves the seat empty. */
export function removeMember(etcd: EtcdCluster, id: string): EtcdCluster {
  const members = etcd.members.filter((member) => member.id !== id);
  return given({ ...etcd, members, index: etcd.index + 1, leader: etcd.leader === id ? undefined : etcd.leader });
}

/** Gives the seat to another running voter; the same cluster when there is none. */
export function moveLeader(world: World, etcd: EtcdCluster, from: string): EtcdCluster {
  const heir = runningVoters(world, etcd).find((member) => member.id !== from);
  if (heir === undefined) return etcd;
  return { ...etcd, leader: heir.id, term: etcd.term + 1, index: etcd.index + 1 };
}
