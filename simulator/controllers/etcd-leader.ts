// SPDX-License-Identifier: Apache-2.0

import { hasQuorum, runningVoters } from "../machine/etcd.ts";
import type { EtcdCluster } from "../machine/etcd-state.ts";
import type { Controller, Moment } from "../machine/moment.ts";
import { type World, withCluster, without } from "../machine/world.ts";

/** Keeps a leader where there is a quorum: none without it, an election when the old one is gone. */
export const etcdLeader: Controller = (world, moment) =>
  Object.values(world.clusters).reduce((next, cluster) => {
    if (cluster.etcd === undefined) return next;
    const etcd = elect(next, cluster.etcd, moment);
    return etcd === cluster.etcd ? next : withCluster(next, { ...cluster, etcd });
  }, world);

function elect(world: World, etcd: EtcdCluster, { now, timings }: Moment): EtcdCluster {
  const voters = runningVoters(world, etcd);
  if (!hasQuorum(world, etcd)) {
    return etcd.leader === undefined && etcd.electionUntil === undefined
      ? etcd
      : without(without(etcd, "leader"), "electionUntil");
  }
  if (etcd.leader !== undefined && voters.some((member) => member.id === etcd.leader)) return etcd;
  if (etcd.electionUntil === undefined) return { ...without(etcd, "leader"), electionUntil: now + timings.election };
  if (etcd.electionUntil > now) return etcd;
  const [winner] = [...voters].sort((a, b) => a.joinedAt - b.joinedAt);
  if (winner === undefined) return etcd;
  return { ...without(etcd, "electionUntil"), leader: winner.id, term: etcd.term + 1, index: etcd.index + 1 };
}
