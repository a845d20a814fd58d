// SPDX-License-Identifier: Apache-2.0
import type { Controller, Moment, Timings } from "../machine/timings.ts";
import type { Cluster, Machine, World } from "../machine/world.ts";
import { components, staticPods } from "./components.ts";
import { etcdLeader, etcdMembership, virtualIp } from "./etcd.ts";
import { expiredFaults, forgottenClusters, terminatingPods, tryMode } from "./expiry.ts";
import { kubelets } from "./kubelets.ts";
import { statusEvents } from "./machine-status.ts";
import { bootCompletion, power } from "./power.ts";
import { services } from "./services.ts";
import { workloads } from "./workloads.ts";

const controllers: readonly Controller[] = [
  expiredFaults,
  power,
  tryMode,
  components,
  services,
  etcdMembership,
  etcdLeader,
  virtualIp,
  staticPods,
  kubelets,
  workloads,
  terminatingPods,
  bootCompletion,
  forgottenClusters,
];

/** Runs every controller until none has anything to do at this moment. */
export function reconcile(world: World, moment: Moment): World {
  let current = world;
  for (let round = 0; round < 100; round += 1) {
    const next = controllers.reduce((state, controller) => controller(state, moment), current);
    if (next === current) return statusEvents(current, moment);
    current = next;
  }
  throw new Error("the controllers do not come to rest: two of them undo each other");
}

/** When the world next changes by itself; undefined when it rests until somebody acts. */
export function nextDeadline(world: World, now: number, timings: Timings): number | undefined {
  let next: number | undefined;
  const consider = (time: number | undefined): void => {
    if (time !== undefined && time > now && (next === undefined || time < next)) next = time;
  };
  for (const machine of Object.values(world.machines)) ofMachine(machine, timings, consider);
  for (const cluster of Object.values(world.clusters)) ofCluster(cluster, timings, consider);
  return next;
}

function ofMachine(machine: Machine, timings: Timings, consider: (time: number | undefined) => void): void {
  if ("until" in machine.life) consider(machine.life.until);
  if (machine.life.stage === "stopping") consider(machine.life.servicesUntil);
  if (machine.life.stage === "stopping" && machine.life.leaveEtcd) consider(machine.life.until + timings.etcdLeave);
  consider(machine.tryUntil);
  consider(machine.staticPodsAt);
  for (const { readyAt } of Object.values(machine.components)) consider(readyAt);
  for (const service of Object.values(machine.services)) {
    consider(service.healthyAt);
    consider(service.startAt);
  }
  for (const fault of machine.faults) consider(fault.until);
}

function ofCluster(cluster: Cluster, timings: Timings, consider: (time: number | undefined) => void): void {
  consider(cluster.etcd?.electionUntil);
  consider(cluster.virtualIp?.at);
  for (const member of cluster.etcd?.members ?? []) if (member.learner) consider(member.joinedAt + timings.promote);
  for (const time of Object.values(cluster.terminating ?? {})) consider(time);
  for (const time of Object.values(cluster.starting ?? {})) consider(time);
  for (const { deadline } of Object.values(cluster.rollouts ?? {})) consider(deadline);
  for (const record of Object.values(cluster.kubelets)) {
    consider(record.registeredAt + timings.nodeReady);
    consider(record.registeredAt + timings.nodeReady + timings.podStart);
    if (record.silentSince !== undefined) consider(record.silentSince + timings.nodeLost);
    if (record.silentSince !== undefined) consider(record.silentSince + timings.nodeLost + timings.podEviction);
  }
}
