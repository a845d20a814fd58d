// SPDX-License-Identifier: Apache-2.0
import { isServing, memberRuns } from "../machine/etcd.ts";
import { isUp } from "../machine/life.ts";
import type { Controller, Moment } from "../machine/moment.ts";
import { type Cluster, type Machine, type World, withCluster, without } from "../machine/world.ts";
import { configOf, machinesOf } from "./membership.ts";

/** One control plane answers for the shared address. The election runs in etcd: none without it, another when the owner is gone. */
export const virtualIp: Controller = (world, moment) =>
  Object.values(world.clusters).reduce((next, cluster) => withCluster(next, elect(next, cluster, moment)), world);

function elect(world: World, cluster: Cluster, { now, timings }: Moment): Cluster {
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
  const member = cluster.etcd?.members.find((candidate) => candidate.machine === machine.id);
  return member !== undefined && memberRuns(world, member);
}
