// SPDX-License-Identifier: Apache-2.0
import { clusterOf } from "../controllers/membership.ts";
import { CallError } from "../machine/call-error.ts";
import { etcdMemberOf, memberRuns, moveLeader, removeMember } from "../machine/etcd.ts";
import { type Machine, type World, withCluster, withMachine, without } from "../machine/world.ts";

const unsafe = "etcdserver: re-configuration failed due to not enough started members";

/** Takes this machine's member out and stops its etcd until it is started or the machine reboots. */
export function leaveEtcd(world: World, machine: Machine): World {
  const member = etcdMemberOf(clusterOf(world, machine), machine.id);
  if (member === undefined) throw new CallError("NotFound", "the node is not a member of etcd");
  const left = removeEtcdMember(world, machine, member.id);
  return withMachine(left, { ...machine, disk: without(machine.disk, "etcd"), stopped: [...machine.stopped, "etcd"] });
}

/** Takes any member out. etcd refuses when those that would remain could not form a quorum. */
export function removeEtcdMember(world: World, machine: Machine, id: string): World {
  const cluster = clusterOf(world, machine);
  if (cluster?.etcd === undefined) throw new CallError("Unavailable", "etcd is not running on this node");
  const member = cluster.etcd.members.find((candidate) => candidate.id === id);
  if (member === undefined) throw new CallError("NotFound", "etcdserver: member not found");
  const rest = cluster.etcd.members.filter((other) => !other.learner && other.id !== id);
  const running = rest.filter((other) => memberRuns(world, other)).length;
  if (!member.learner && running <= rest.length / 2) throw new CallError("Unknown", unsafe);
  return withCluster(world, { ...cluster, etcd: moveOn(world, removeMember(cluster.etcd, id)) });
}

/** etcd hands the leadership over before a leader is removed, so there is no gap. */
function moveOn(world: World, etcd: ReturnType<typeof removeMember>): ReturnType<typeof removeMember> {
  return etcd.leader === undefined ? moveLeader(world, etcd, "") : etcd;
}

/** Moves the leadership away from this machine; `member` is the new leader's name, empty when it did not lead. */
export function forfeitLeadership(world: World, machine: Machine): { world: World; member: string } {
  const cluster = clusterOf(world, machine);
  const own = etcdMemberOf(cluster, machine.id);
  if (cluster?.etcd === undefined || own === undefined) {
    throw new CallError("Unavailable", "etcd is not running on this node");
  }
  if (cluster.etcd.leader !== own.id) return { world, member: "" };
  if (cluster.etcd.members.length === 1) {
    throw new CallError("FailedPrecondition", "cannot forfeit leadership, only one member");
  }
  const etcd = moveLeader(world, cluster.etcd, own.id);
  const heir = etcd.members.find((member) => member.id === etcd.leader);
  if (etcd === cluster.etcd || heir === undefined)
    throw new CallError("Unavailable", "etcdserver: no other voter runs");
  return { world: withCluster(world, { ...cluster, etcd }), member: heir.name };
}

/** Keeps an uploaded snapshot for the bootstrap that will use it. */
export function receiveSnapshot(world: World, machine: Machine, name: string): World {
  return withMachine(world, { ...machine, disk: { ...machine.disk, recovery: name } });
}
