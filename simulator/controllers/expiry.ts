// SPDX-License-Identifier: Apache-2.0

import { readyStatusOf } from "../kubernetes/node.ts";
import { nodeNameOf, stopPod, stopPods } from "../kubernetes/pod.ts";
import { deleteObject, getObject, listObjects } from "../kubernetes/store.ts";
import { readNodeConfig } from "../machine/node-config.ts";
import type { Controller, Moment } from "../machine/timings.ts";
import { type Cluster, type KubernetesObject, mapClusters, mapMachines, without } from "../machine/world.ts";

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

/** Takes pods away when their time to stop is over, and their kubelet has said that they have stopped. */
export const terminatingPods: Controller = (world, { now }) =>
  mapClusters(world, (cluster) => {
    const due = Object.entries(cluster.terminating ?? {}).filter(([, time]) => time <= now);
    return due.reduce((state, [key]) => {
      const [namespace, name = ""] = key.split("/");
      const pod = getObject(state, "pods", namespace, name);
      const node = pod && getObject(state, "nodes", undefined, nodeNameOf(pod) ?? "");
      if (node !== undefined && readyStatusOf(node) === "Unknown") return state;
      return { ...deleteObject(state, "pods", namespace, name), terminating: without(state.terminating ?? {}, key) };
    }, cluster);
  });

/** Drops what a cluster shared once no machine has its config any more, running or on disk. */
export const forgottenClusters: Controller = (world) => {
  const keys = Object.keys(world.clusters);
  if (keys.length === 0) return world;
  const configs = Object.values(world.machines).flatMap((machine) => [machine.activeConfig, machine.disk.config]);
  const alive = new Set(configs.flatMap((text) => (text === undefined ? [] : [readNodeConfig(text).clusterKey])));
  if (keys.every((key) => alive.has(key))) return world;
  return { ...world, clusters: Object.fromEntries(Object.entries(world.clusters).filter(([key]) => alive.has(key))) };
};

/** Takes away what nobody holds any more: dependents of deleted owners, pods of deleted nodes, what was in deleted namespaces. */
export function collectGarbage(cluster: Cluster, moment: Moment): Cluster {
  return emptyNamespaces(dropOrphans(dropDependents(cluster, moment)), moment);
}

/** Pods of nodes that have been unreachable for long are deleted, so that others take their place; daemon sets' stay. */
export function evictLost(cluster: Cluster, moment: Moment): Cluster {
  const { nodeLost, podEviction } = moment.timings;
  const lost = Object.entries(cluster.kubelets).flatMap(([name, { silentSince }]) =>
    silentSince !== undefined && silentSince + nodeLost + podEviction <= moment.now ? [name] : [],
  );
  if (lost.length === 0) return cluster;
  const going = listObjects(cluster, "pods").filter((pod) => lost.includes(nodeNameOf(pod) ?? "") && isEvicted(pod));
  return stopPods(cluster, going, moment);
}

function isEvicted(pod: KubernetesObject): boolean {
  const owners = pod.metadata.ownerReferences as readonly { readonly kind: string }[] | undefined;
  return !["DaemonSet", "Node"].includes(owners?.[0]?.kind ?? "");
}

function dropDependents(cluster: Cluster, moment: Moment): Cluster {
  const alive = new Set(Object.values(cluster.objects).map((object) => object.metadata.uid));
  return Object.entries(cluster.objects).reduce((next, [key, object]) => {
    const owners = (object.metadata.ownerReferences ?? []) as readonly { readonly uid: string }[];
    if (owners.length === 0 || owners.some(({ uid }) => alive.has(uid))) return next;
    return discard(next, key, object, moment);
  }, cluster);
}

/** Pods of nodes that are no longer there. */
function dropOrphans(cluster: Cluster): Cluster {
  return listObjects(cluster, "pods").reduce((next, pod) => {
    const node = nodeNameOf(pod);
    if (node === undefined || getObject(next, "nodes", undefined, node) !== undefined) return next;
    return deleteObject(next, "pods", pod.metadata.namespace, pod.metadata.name);
  }, cluster);
}

function emptyNamespaces(cluster: Cluster, moment: Moment): Cluster {
  const going = listObjects(cluster, "namespaces").filter((home) => home.metadata.deletionTimestamp !== undefined);
  return going.reduce((next, { metadata: { name } }) => {
    const inside = Object.entries(next.objects).filter(([, object]) => object.metadata.namespace === name);
    if (inside.length === 0) return deleteObject(next, "namespaces", undefined, name);
    return inside.reduce((state, [key, object]) => discard(state, key, object, moment), next);
  }, cluster);
}

function discard(cluster: Cluster, key: string, object: KubernetesObject, moment: Moment): Cluster {
  const [resource = ""] = key.split("/", 1);
  if (resource === "pods") return stopPod(cluster, object, moment);
  return deleteObject(cluster, resource, object.metadata.namespace, object.metadata.name);
}
