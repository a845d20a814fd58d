// SPDX-License-Identifier: Apache-2.0
import { isHealthy } from "../kubernetes/eviction.ts";
import { isStopping, podFrom, podName, podsOf } from "../kubernetes/pod.ts";
import { stopPod } from "../kubernetes/pod-removal.ts";
import { createObject, getObject, updateObject } from "../kubernetes/store.ts";
import type { Moment } from "../machine/moment.ts";
import type { Cluster, KubernetesObject } from "../machine/world.ts";

/** Keeps as many pods as the set wants. */
export function tendReplicaSet(cluster: Cluster, set: KubernetesObject, moment: Moment): Cluster {
  const wanted = replicasOf(set);
  const alive = podsOf(cluster, set).filter((pod) => !isStopping(pod));
  let next = cluster;
  for (let count = alive.length; count < wanted; count += 1) {
    next = createObject(next, "pods", podFrom(set, podName(set, moment)), moment);
  }
  // Those that do not serve go first.
  const spare = [...alive].sort((a, b) => Number(isHealthy(a)) - Number(isHealthy(b)));
  for (const pod of spare.slice(0, Math.max(0, alive.length - wanted))) next = stopPod(next, pod, moment);
  const { namespace, name } = set.metadata;
  const current = getObject(next, "replicasets.apps", namespace, name) ?? set;
  const pods = podsOf(next, set).filter((pod) => !isStopping(pod));
  const ready = pods.filter(isHealthy).length;
  const status = {
    replicas: pods.length,
    fullyLabeledReplicas: pods.length,
    readyReplicas: ready,
    availableReplicas: ready,
    observedGeneration: set.metadata.generation,
  };
  return updateObject(next, "replicasets.apps", { ...current, status });
}

export function replicasOf(workload: KubernetesObject): number {
  return (workload.spec as { replicas?: number } | undefined)?.replicas ?? 1;
}
