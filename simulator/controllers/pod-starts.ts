// SPDX-License-Identifier: Apache-2.0
import { recordEvent } from "../kubernetes/events.ts";
import { isHealthy } from "../kubernetes/eviction.ts";
import { isNodeReady, readyStatusOf } from "../kubernetes/node.ts";
import { isStopping, nodeNameOf, runningStatus, succeededStatus, waitingStatus } from "../kubernetes/pod.ts";
import { unpullable } from "../kubernetes/pod-image.ts";
import { getObject, listObjects, updateObject } from "../kubernetes/store.ts";
import type { Moment } from "../machine/moment.ts";
import { type Cluster, type KubernetesObject, type World, without } from "../machine/world.ts";

type PodKey = { readonly name: string; readonly namespace?: string };

/** Notes that a pod has a node and is being started there. */
export function beginPod(cluster: Cluster, pod: PodKey, moment: Moment): Cluster {
  const key = `${pod.namespace ?? ""}/${pod.name}`;
  return { ...cluster, starting: { ...cluster.starting, [key]: moment.now + moment.timings.podStart } };
}

/** What kubelets do with their pods: start them on ready nodes, finish those of jobs, and lose them with the node. */
export function startPods(world: World, cluster: Cluster, moment: Moment): Cluster {
  let next = cluster;
  for (const [key, time] of Object.entries(cluster.starting ?? {})) {
    const [namespace, name = ""] = key.split("/");
    const pod = getObject(next, "pods", namespace, name);
    const node = pod === undefined ? undefined : getObject(next, "nodes", undefined, nodeNameOf(pod) ?? "");
    if (pod !== undefined && (time > moment.now || node === undefined || !canRun(pod, node))) continue;
    next = { ...next, starting: without(next.starting ?? {}, key) };
    if (pod !== undefined && !isStopping(pod)) next = advance(world, next, pod, moment);
  }
  for (const pod of listObjects(next, "pods").filter(isHealthy)) {
    const node = getObject(next, "nodes", undefined, nodeNameOf(pod) ?? "");
    if (node === undefined || canRun(pod, node)) continue;
    next = updateObject(next, "pods", {
      ...pod,
      status: runningStatus(pod, hostOf(world, next, pod), false, moment.now),
    });
    next = beginPod(next, pod.metadata, moment);
  }
  return next;
}

/** A node that is not ready only lacks a network: its kubelet runs on, and so do the pods that use the host's. */
function canRun(pod: KubernetesObject, node: KubernetesObject): boolean {
  const onHostNetwork = (pod.spec as { hostNetwork?: boolean } | undefined)?.hostNetwork === true;
  return isNodeReady(node) || (onHostNetwork && readyStatusOf(node) === "False");
}

/** One step of a pod's life: pending, running, and for a job's pod done. */
function advance(world: World, cluster: Cluster, pod: KubernetesObject, moment: Moment): Cluster {
  const host = hostOf(world, cluster, pod);
  const bad = unpullable(pod);
  if (bad !== undefined) {
    const failed = updateObject(cluster, "pods", { ...pod, status: waitingStatus(pod, host, bad.name, moment.now) });
    const message = `Failed to pull image "${bad.image}": failed to resolve reference "${bad.image}": not found`;
    return recordEvent(failed, { about: pod, type: "Warning", reason: "Failed", message, source: "kubelet" }, moment);
  }
  const runs = (pod.status as { phase?: string } | undefined)?.phase === "Running";
  if (runs && isJobPod(pod)) return updateObject(cluster, "pods", { ...pod, status: succeededStatus(pod, moment.now) });
  const started = updateObject(cluster, "pods", { ...pod, status: runningStatus(pod, host, true, moment.now) });
  return isJobPod(pod) ? beginPod(started, pod.metadata, moment) : started;
}

/** Pods of jobs end by themselves; what any other container would do nobody knows, so it runs. */
function isJobPod(pod: KubernetesObject): boolean {
  const owners = pod.metadata.ownerReferences as readonly { readonly kind: string }[] | undefined;
  return owners?.[0]?.kind === "Job";
}

function hostOf(world: World, cluster: Cluster, pod: KubernetesObject): string {
  return world.machines[cluster.kubelets[nodeNameOf(pod) ?? ""]?.machine ?? ""]?.address ?? "";
}
