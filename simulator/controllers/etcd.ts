// SPDX-License-Identifier: Apache-2.0
import {
  addLearner,
  etcdMemberOf,
  hasQuorum,
  isServing,
  mayRemove,
  memberRuns,
  newMember,
  promote,
  removeMember,
  runningVoters,
} from "../machine/etcd.ts";
import { emitAll } from "../machine/events.ts";
import { isHealthy, isUp } from "../machine/life.ts";
import type { Controller, Moment } from "../machine/timings.ts";
import {
  type Cluster,
  type EtcdCluster,
  type Machine,
  mapClusters,
  type World,
  withCluster,
  withMachine,
  without,
} from "../machine/world.ts";
import { clusterOf, configOf, failureOf, hostnameOf, isControlPlane, machinesOf } from "./membership.ts";
import { restart } from "./power.ts";

/** Control planes join the etcd of their cluster by themselves, one learner at a time; a graceful reset leaves it. */
export const etcdMembership: Controller = (world, moment) =>
  Object.keys(world.machines).reduce((next, id) => {
    const machine = next.machines[id];
    if (machine === undefined || !isControlPlane(machine)) return next;
    if (machine.life.stage === "stopping") return leave(next, machine, moment);
    return isUp(machine.life) ? promoteIfDue(join(next, machine, moment), id, moment) : next;
  }, world);

function join(world: World, machine: Machine, moment: Moment): World {
  const cluster = clusterOf(world, machine);
  if (machine.disk.etcd !== undefined || machine.stopped.includes("etcd") || !isHealthy(machine.services.cri))
    return world;
  if (cluster?.etcd === undefined || !isServing(world, cluster)) return world;
  if (failureOf(machine, "etcd", moment.now) !== undefined) return world;
  // etcd takes one learner at a time.
  if (cluster.etcd.members.some((member) => member.learner)) return world;
  const member = newMember(machine, hostnameOf(machine), true, moment);
  // A member of the same name is what an earlier life of this machine left behind; Talos takes it out before it joins.
  const stale = cluster.etcd.members.find((other) => other.machine === machine.id || other.name === member.name);
  const cleaned = stale === undefined ? cluster.etcd : removeMember(cluster.etcd, stale.id);
  const next = withCluster(world, { ...cluster, etcd: addLearner(cleaned, member) });
  return withMachine(next, { ...machine, disk: { ...machine.disk, etcd: { memberId: member.id } } });
}

function promoteIfDue(world: World, id: string, moment: Moment): World {
  const machine = world.machines[id];
  const cluster = machine === undefined ? undefined : clusterOf(world, machine);
  const member = etcdMemberOf(cluster, id);
  if (machine === undefined || cluster?.etcd === undefined || member?.learner !== true) return world;
  const due = member.joinedAt + moment.timings.promote <= moment.now;
  if (!due || !isHealthy(machine.services.etcd) || !isServing(world, cluster)) return world;
  return withCluster(world, { ...cluster, etcd: promote(cluster.etcd, member.id) });
}

/** Leaves before the disk is wiped. The last member can't: etcd refuses, and after a while the sequence gives up. */
function leave(world: World, machine: Machine, moment: Moment): World {
  const { life } = machine;
  if (life.stage !== "stopping" || life.leaveEtcd !== true) return world;
  const done: Machine = { ...machine, life: { ...life, leaveEtcd: false } };
  const cluster = clusterOf(world, machine);
  const member = etcdMemberOf(cluster, machine.id);
  if (cluster?.etcd === undefined || member === undefined) return withMachine(world, done);
  if (mayRemove(world, cluster.etcd, member)) {
    const next = withCluster(world, { ...cluster, etcd: removeMember(cluster.etcd, member.id) });
    return withMachine(next, { ...done, disk: without(machine.disk, "etcd") });
  }
  if (moment.now < life.until + moment.timings.etcdLeave) return world;
  const message = "error leaving cluster: etcdserver: re-configuration failed due to not enough started members";
  const failed = emitAll(
    machine,
    moment.now,
    [{ kind: "sequence", sequence: life.sequence, action: "NOOP", error: { code: "FATAL", message } }],
    life.actor,
  );
  return withMachine(world, restart(failed, moment));
}

/** Keeps a leader where there is a quorum: none without it, an election when the old one is gone. */
export const etcdLeader: Controller = (world, moment) =>
  mapClusters(world, (cluster, next) => {
    if (cluster.etcd === undefined) return cluster;
    const etcd = elect(next, cluster.etcd, moment);
    return etcd === cluster.etcd ? cluster : { ...cluster, etcd };
  });

function elect(world: World, etcd: EtcdCluster, { now, timings }: Moment): EtcdCluster {
  const voters = runningVoters(world, etcd);
  if (!hasQuorum(world, etcd)) {
    return etcd.leader === undefined && etcd.electionUntil === undefined
      ? etcd
      : without(etcd, "leader", "electionUntil");
  }
  if (etcd.leader !== undefined && voters.some((member) => member.id === etcd.leader)) return etcd;
  if (etcd.electionUntil === undefined) return { ...without(etcd, "leader"), electionUntil: now + timings.election };
  if (etcd.electionUntil > now) return etcd;
  const [winner] = [...voters].sort((a, b) => a.joinedAt - b.joinedAt);
  if (winner === undefined) return etcd;
  return { ...without(etcd, "electionUntil"), leader: winner.id, term: etcd.term + 1, index: etcd.index + 1 };
}

/** One control plane answers for the shared address. The election runs in etcd: none without it, another when the owner is gone. */
export const virtualIp: Controller = (world, moment) =>
  mapClusters(world, (cluster, next) => electOwner(next, cluster, moment));

function electOwner(world: World, cluster: Cluster, { now, timings }: Moment): Cluster {
  const candidates = machinesOf(world, cluster.key).filter((machine) => mayHold(world, cluster, machine));
  const held = cluster.virtualIp;
  const owner = candidates.find((machine) => machine.id === held?.owner);
  if (held !== undefined && owner !== undefined && configOf(owner)?.virtualIp === held.address) return cluster;
  const [heir] = candidates.sort((a, b) => (a.address < b.address ? -1 : 1));
  const address = heir === undefined ? undefined : configOf(heir)?.virtualIp;
  if (heir === undefined || address === undefined || !isServing(world, cluster)) {
    return held === undefined ? cluster : without(cluster, "virtualIp");
  }
  return { ...cluster, virtualIp: { address, owner: heir.id, at: now + timings.virtualIp } };
}

function mayHold(world: World, cluster: Cluster, machine: Machine): boolean {
  const config = configOf(machine);
  if (config?.type !== "controlplane" || config.virtualIp === undefined || !isUp(machine.life)) return false;
  const member = etcdMemberOf(cluster, machine.id);
  return member !== undefined && memberRuns(world, member);
}
