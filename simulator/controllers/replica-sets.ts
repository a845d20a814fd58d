// SPDX-License-Identifier: Apache-2.0

import { given } from "../../talos/given.ts";
import { isHealthy } from "../kubernetes/eviction.ts";
import { isStopping, podFrom, podName, podsOf, stopPod } from "../kubernetes/pod.ts";
import { createObject, getObject, timestamp, updateObject } from "../kubernetes/store.ts";
import type { Moment } from "../machine/timings.ts";
import { type Cluster, type KubernetesObject, specOf, statusOf } from "../machine/world.ts";

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
  return specOf<{ replicas?: number }>(workload).replicas ?? 1;
}

interface JobSpec {
  readonly completions?: number;
  readonly parallelism?: number;
  readonly suspend?: boolean;
}

/** Starts a job's pods until enough of them have succeeded. */
export function tendJob(cluster: Cluster, job: KubernetesObject, moment: Moment): Cluster {
  const { completions = 1, parallelism = 1, suspend = false } = specOf<JobSpec>(job);
  const phase = (pod: KubernetesObject): unknown => statusOf<{ phase?: string }>(pod).phase;
  const pods = podsOf(cluster, job);
  const succeeded = pods.filter((pod) => phase(pod) === "Succeeded").length;
  const active = pods.length - succeeded;
  const open = suspend ? 0 : Math.max(0, Math.min(parallelism, completions - succeeded) - active);
  let next = cluster;
  for (let count = 0; count < open; count += 1) {
    const labels = { "batch.kubernetes.io/job-name": job.metadata.name, "job-name": job.metadata.name };
    next = createObject(next, "pods", podFrom(job, podName(job, moment), labels), moment);
  }
  const known = (job.status ?? {}) as { startTime?: string; completionTime?: string };
  const at = timestamp(moment.now);
  const completionTime = succeeded >= completions ? (known.completionTime ?? at) : undefined;
  const status = given({
    startTime: known.startTime ?? at,
    active: active + open || undefined,
    ready: podsOf(next, job).filter(isHealthy).length,
    succeeded: succeeded || undefined,
    completionTime,
    conditions: completionTime && [{ type: "Complete", status: "True", lastTransitionTime: completionTime }],
  });
  return updateObject(next, "jobs.batch", { ...job, status });
}
