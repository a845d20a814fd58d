// SPDX-License-Identifier: Apache-2.0
import { clusterOf, configOf, hostnameOf } from "../controllers/membership.ts";
import { CallError } from "../machine/call-error.ts";
import { bootstrapEtcd, etcdMemberOf, mayRemove, moveLeader, newMember, removeMember } from "../machine/etcd.ts";
import { isHealthy } from "../machine/life.ts";
import { minorOf } from "../machine/release.ts";
import type { Moment } from "../machine/timings.ts";
import { type Machine, type World, withCluster, withMachine, without } from "../machine/world.ts";
import type { SnapshotContent } from "./snapshot.ts";

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
  if (!mayRemove(world, cluster.etcd, member)) throw new CallError("Unknown", unsafe);
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

export interface BootstrapInput {
  /** Reads the snapshot of this name; undefined when it is not there. @default etcd starts empty */
  readonly recover?: (snapshot: string) => SnapshotContent | undefined;
}

/** Starts a new etcd with this machine as its only member. The order of the checks is the real one. */
export function bootstrap(world: World, machine: Machine, input: BootstrapInput, moment: Moment): World {
  const config = configOf(machine);
  if (!isHealthy(machine.services.cri)) {
    throw new CallError("FailedPrecondition", "bootstrap is not available yet");
  }
  if (config?.type !== "controlplane") {
    throw minorOf(machine.talosVersion) < 1_013
      ? new CallError("FailedPrecondition", "bootstrap can only be performed on a control plane node")
      : new CallError("Unimplemented", "bootstrap is only available on control plane nodes");
  }
  if (machine.disk.etcd !== undefined) {
    throw new CallError("AlreadyExists", "etcd data directory is not empty");
  }
  const content = contentOf(machine, input);
  const cluster = world.clusters[config.clusterKey];
  if (cluster === undefined) throw new CallError("Internal", "the machine's cluster is unknown");
  const member = newMember(machine, hostnameOf(machine), false, moment);
  const next = withCluster(world, { key: cluster.key, kubelets: {}, ...content, etcd: bootstrapEtcd(member) });
  const disk = { ...without(machine.disk, "recovery"), etcd: { memberId: member.id } };
  return withMachine(next, { ...machine, disk, stopped: machine.stopped.filter((id) => id !== "etcd") });
}

function contentOf({ disk }: Machine, { recover }: BootstrapInput): SnapshotContent {
  if (recover === undefined) return { objects: {}, revision: 1 };
  const content = disk.recovery === undefined ? undefined : recover(disk.recovery);
  if (content !== undefined) return content;
  throw new CallError("FailedPrecondition", "etcd recover is requested but there is no snapshot");
}
