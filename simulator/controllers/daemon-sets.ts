// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import { isHealthy, share } from "../kubernetes/eviction.ts";
import { daemonPod, isStopping, nodeNameOf, podsOf, stopPod, templateHash, templateOf } from "../kubernetes/pod.ts";
import { createObject, getObject, listObjects, updateObject } from "../kubernetes/store.ts";
import type { Moment } from "../machine/timings.ts";
import { type Cluster, type KubernetesObject, specOf } from "../machine/world.ts";
import { beginPod, nodeTakes } from "./pod-scheduling.ts";

interface Strategy {
  readonly type?: string;
  readonly rollingUpdate?: { readonly maxUnavailable?: number | string };
}

/** One pod on every node that takes it; a new template replaces them a few at a time. */
export function tendDaemonSet(cluster: Cluster, set: KubernetesObject, moment: Moment): Cluster {
  const hash = templateHash(set);
  const nodes = listObjects(cluster, "nodes").filter((node) => nodeTakes(node, { spec: templateOf(set).spec }));
  const wanted = new Set(nodes.map((node) => node.metadata.name));
  const filled = nodes.reduce((next, node) => {
    const pod = daemonPod(set, node.metadata.name, hash);
    if (getObject(next, "pods", pod.metadata.namespace, pod.metadata.name) !== undefined) return next;
    return beginPod(createObject(next, "pods", pod, moment), pod.metadata, moment);
  }, cluster);
  const pods = podsOf(filled, set);
  const placed = pods.filter((pod) => wanted.has(nodeNameOf(pod) ?? ""));
  const strays = pods.filter((pod) => !wanted.has(nodeNameOf(pod) ?? ""));
  const cleared = strays.reduce((next, pod) => stopPod(next, pod, moment), filled);
  const rolled = roll(cleared, set, placed, hash, moment);
  const alive = podsOf(rolled, set).filter((pod) => !isStopping(pod));
  const ready = alive.filter(isHealthy).length;
  const status = given({
    currentNumberScheduled: alive.length,
    desiredNumberScheduled: nodes.length,
    numberAvailable: ready,
    numberMisscheduled: 0,
    numberReady: ready,
    numberUnavailable: ready < nodes.length ? nodes.length - ready : undefined,
    updatedNumberScheduled: alive.filter((pod) => isOf(pod, hash)).length,
    observedGeneration: set.metadata.generation,
  });
  return updateObject(rolled, "daemonsets.apps", { ...set, status });
}

function isOf(pod: KubernetesObject, hash: string): boolean {
  return pod.metadata.labels?.["controller-revision-hash"] === hash;
}

/** Stops pods of an older template: those that do not serve at once, the others while enough are up. */
function roll(
  cluster: Cluster,
  set: KubernetesObject,
  pods: readonly KubernetesObject[],
  hash: string,
  moment: Moment,
): Cluster {
  const { type, rollingUpdate } = specOf<{ updateStrategy?: Strategy }>(set).updateStrategy ?? {};
  const old = pods.filter((pod) => !isOf(pod, hash) && !isStopping(pod));
  if (type === "OnDelete" || old.length === 0) return cluster;
  const allowed = Math.ceil(share(rollingUpdate?.maxUnavailable ?? 1, pods.length));
  const down = pods.filter((pod) => !isHealthy(pod)).length;
  const [broken, serving] = [old.filter((pod) => !isHealthy(pod)), old.filter(isHealthy)];
  const going = [...broken, ...serving.slice(0, Math.max(0, allowed - down))];
  return going.reduce((next, pod) => stopPod(next, pod, moment), cluster);
}
