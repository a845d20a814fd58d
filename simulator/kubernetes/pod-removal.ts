// SPDX-License-Identifier: Apache-2.0
import type { Moment } from "../machine/moment.ts";
import type { Cluster, KubernetesObject } from "../machine/world.ts";
import { timestamp, updateObject } from "./store.ts";

/** Tells a pod to stop; it is gone a little later. */
export function stopPod(cluster: Cluster, pod: KubernetesObject, moment: Moment): Cluster {
  if (pod.metadata.deletionTimestamp !== undefined) return cluster;
  const metadata = { ...pod.metadata, deletionTimestamp: timestamp(moment.now), deletionGracePeriodSeconds: 30 };
  const stopping = updateObject(cluster, "pods", { ...pod, metadata });
  const key = `${pod.metadata.namespace ?? ""}/${pod.metadata.name}`;
  return { ...stopping, terminating: { ...stopping.terminating, [key]: moment.now + moment.timings.podStop } };
}
