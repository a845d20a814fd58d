// SPDX-License-Identifier: Apache-2.0
import { deleteObject } from "../kubernetes/store.ts";
import type { Controller } from "../machine/moment.ts";
import { readNodeConfig } from "../machine/node-config.ts";
import { mapMachines, withCluster, without } from "../machine/world.ts";

/** Takes faults away whose time is over, so that everything that depends on them looks again. */
export const expiredFaults: Controller = (world, { now }) =>
  mapMachines(world, (machine) => {
    const faults = machine.faults.filter((fault) => fault.until === undefined || now < fault.until);
    return faults.length === machine.faults.length ? machine : { ...machine, faults };
  });

/** Takes a config that was only tried back when its time is over. */
export const tryMode: Controller = (world, { now }) =>
  mapMachines(world, (machine) => {
    if (machine.tryUntil === undefined || machine.tryUntil > now) return machine;
    const { activeConfig: tried, ...rest } = without(machine, "tryUntil");
    const kept = machine.disk.config ?? tried;
    return kept === undefined ? rest : { ...rest, activeConfig: kept };
  });

/** Takes pods away when their time to stop is over. */
export const terminatingPods: Controller = (world, { now }) =>
  Object.values(world.clusters).reduce((next, cluster) => {
    const due = Object.entries(cluster.terminating ?? {}).filter(([, time]) => time <= now);
    if (due.length === 0) return next;
    const cleaned = due.reduce((state, [key]) => {
      const [namespace, name = ""] = key.split("/");
      return { ...deleteObject(state, "pods", namespace, name), terminating: without(state.terminating ?? {}, key) };
    }, cluster);
    return withCluster(next, cleaned);
  }, world);

/** Drops what a cluster shared once no machine has its config any more, running or on disk. */
export const forgottenClusters: Controller = (world) => {
  const keys = Object.keys(world.clusters);
  if (keys.length === 0) return world;
  const configs = Object.values(world.machines).flatMap((machine) => [machine.activeConfig, machine.disk.config]);
  const alive = new Set(configs.flatMap((text) => (text === undefined ? [] : [readNodeConfig(text).clusterKey])));
  if (keys.every((key) => alive.has(key))) return world;
  return { ...world, clusters: Object.fromEntries(Object.entries(world.clusters).filter(([key]) => alive.has(key))) };
};
