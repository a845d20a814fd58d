// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import { isHealthy } from "../kubernetes/eviction.ts";
import { podFrom, podName, podsOf } from "../kubernetes/pod.ts";
import { createObject, timestamp, updateObject } from "../kubernetes/store.ts";
import type { Moment } from "../machine/moment.ts";
import type { Cluster, KubernetesObject } from "../machine/world.ts";

interface JobSpec {
  readonly completions?: number;
  readonly parallelism?: number;
  readonly suspend?: boolean;
}

/** Starts a job's pods until enough of them have succeeded. */
export function tendJob(cluster: Cluster, job: KubernetesObject, moment: Moment): Cluster {
  const { completions = 1, parallelism = 1, suspend = false } = (job.spec ?? {}) as JobSpec;
  const phase = (pod: KubernetesObject): unknown => (pod.status as { phase?: string } | undefined)?.phase;
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
