// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import { isHealthy, share } from "../kubernetes/eviction.ts";
import {
  daemonPod,
  isStopping,
  livingPods,
  nodeNameOf,
  podFrom,
  podName,
  podsOf,
  stopPod,
  stopPods,
  templateHash,
  templateOf,
} from "../kubernetes/pod.ts";
import { createObject, getObject, listObjects, type NewObject, timestamp, updateObject } from "../kubernetes/store.ts";
import type { Moment } from "../machine/timings.ts";
import { type Cluster, type KubernetesObject, specOf, statusOf } from "../machine/world.ts";
import { beginPod, nodeTakes } from "./pod-scheduling.ts";

/** Of the template that a pod was made from. */
const revisionLabel = "controller-revision-hash";

/** Keeps as many pods as the set wants. */
export function tendReplicaSet(cluster: Cluster, set: KubernetesObject, moment: Moment): Cluster {
  const wanted = replicasOf(set);
  const alive = livingPods(cluster, set);
  let next = cluster;
  for (let count = alive.length; count < wanted; count += 1) {
    next = createObject(next, "pods", podFrom(set, podName(set, moment)), moment);
  }
  // Those that do not serve go first.
  const spare = [...alive].sort((a, b) => Number(isHealthy(a)) - Number(isHealthy(b)));
  next = stopPods(next, spare.slice(0, Math.max(0, alive.length - wanted)), moment);
  const pods = livingPods(next, set);
  const ready = pods.filter(isHealthy).length;
  const status = {
    replicas: pods.length,
    fullyLabeledReplicas: pods.length,
    readyReplicas: ready,
    availableReplicas: ready,
    observedGeneration: set.metadata.generation,
  };
  return updateObject(next, "replicasets.apps", { ...set, status });
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

interface StatefulSpec {
  readonly podManagementPolicy?: string;
  readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: { readonly partition?: number } };
  readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string }; readonly spec?: unknown }[];
}

/** Pods with numbers and volumes of their own: up in order, replaced from the last to the first, one at a time. */
export function tendStatefulSet(cluster: Cluster, set: KubernetesObject, moment: Moment): Cluster {
  const revision = `${set.metadata.name}-${templateHash(set)}`;
  const spec = specOf<StatefulSpec>(set);
  const names = Array.from({ length: replicasOf(set) }, (_, index) => `${set.metadata.name}-${index}`);
  const filled = fillInOrder(cluster, set, names, revision, moment);
  const pods = podsOf(filled, set);
  const extra = pods.filter((pod) => !names.includes(pod.metadata.name));
  const trimmed = stopPods(filled, extra, moment);
  const rolled = extra.length > 0 ? trimmed : rollInOrder(trimmed, spec, names, pods, revision, moment);
  const alive = livingPods(rolled, set);
  const ready = alive.filter(isHealthy).length;
  const updated = alive.filter((pod) => pod.metadata.labels?.[revisionLabel] === revision).length;
  const before = statusOf<{ currentRevision?: string }>(set).currentRevision ?? revision;
  const done = updated === names.length && ready === names.length;
  const status = {
    observedGeneration: set.metadata.generation,
    replicas: alive.length,
    readyReplicas: ready,
    availableReplicas: ready,
    currentReplicas: done ? updated : alive.length - updated,
    updatedReplicas: updated,
    currentRevision: done ? revision : before,
    updateRevision: revision,
    collisionCount: 0,
  };
  return updateObject(rolled, "statefulsets.apps", { ...set, status });
}

function fillInOrder(
  cluster: Cluster,
  set: KubernetesObject,
  names: readonly string[],
  revision: string,
  moment: Moment,
): Cluster {
  const { podManagementPolicy, volumeClaimTemplates = [] } = specOf<StatefulSpec>(set);
  const { namespace } = set.metadata;
  let next = cluster;
  for (const name of names) {
    const known = getObject(next, "pods", namespace, name);
    if (known === undefined) {
      for (const { metadata, spec } of volumeClaimTemplates) {
        next = ensureClaim(next, namespace ?? "", `${metadata.name}-${name}`, spec, moment);
      }
      next = createObject(next, "pods", podWithClaims(set, name, revision, volumeClaimTemplates), moment);
    }
    if (podManagementPolicy !== "Parallel" && (known === undefined || !isHealthy(known))) return next;
  }
  return next;
}

function podWithClaims(
  set: KubernetesObject,
  name: string,
  revision: string,
  claims: readonly { readonly metadata: { readonly name: string } }[],
): NewObject {
  const volumes = (templateOf(set).spec?.volumes ?? []) as readonly unknown[];
  const mounted = claims.map(({ metadata }) => ({
    name: metadata.name,
    persistentVolumeClaim: { claimName: `${metadata.name}-${name}` },
  }));
  const labels = { [revisionLabel]: revision, "statefulset.kubernetes.io/pod-name": name };
  return podFrom(set, name, labels, { hostname: name, volumes: [...volumes, ...mounted] });
}

function ensureClaim(cluster: Cluster, namespace: string, name: string, spec: unknown, moment: Moment): Cluster {
  if (getObject(cluster, "persistentvolumeclaims", namespace, name) !== undefined) return cluster;
  const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name, namespace }, spec };
  return createObject(cluster, "persistentvolumeclaims", { ...claim, status: { phase: "Pending" } }, moment);
}

function rollInOrder(
  cluster: Cluster,
  { updateStrategy }: StatefulSpec,
  names: readonly string[],
  pods: readonly KubernetesObject[],
  revision: string,
  moment: Moment,
): Cluster {
  if (updateStrategy?.type === "OnDelete") return cluster;
  const partition = updateStrategy?.rollingUpdate?.partition ?? 0;
  const ordered = names.slice(partition).reverse();
  for (const name of ordered) {
    const pod = pods.find((candidate) => candidate.metadata.name === name);
    if (pod === undefined) return cluster;
    if (pod.metadata.labels?.[revisionLabel] !== revision) return stopPod(cluster, pod, moment);
    if (!isHealthy(pod)) return cluster;
  }
  return cluster;
}

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
  const cleared = stopPods(filled, strays, moment);
  const rolled = rollDaemons(cleared, set, placed, hash, moment);
  const alive = livingPods(rolled, set);
  const ready = alive.filter(isHealthy).length;
  const status = given({
    currentNumberScheduled: alive.length,
    desiredNumberScheduled: nodes.length,
    numberAvailable: ready,
    numberMisscheduled: 0,
    numberReady: ready,
    numberUnavailable: ready < nodes.length ? nodes.length - ready : undefined,
    updatedNumberScheduled: alive.filter((pod) => pod.metadata.labels?.[revisionLabel] === hash).length,
    observedGeneration: set.metadata.generation,
  });
  return updateObject(rolled, "daemonsets.apps", { ...set, status });
}

/** Stops pods of an older template: those that do not serve at once, the others while enough are up. */
function rollDaemons(
  cluster: Cluster,
  set: KubernetesObject,
  pods: readonly KubernetesObject[],
  hash: string,
  moment: Moment,
): Cluster {
  const { type, rollingUpdate } = specOf<{ updateStrategy?: Strategy }>(set).updateStrategy ?? {};
  const old = pods.filter((pod) => pod.metadata.labels?.[revisionLabel] !== hash && !isStopping(pod));
  if (type === "OnDelete" || old.length === 0) return cluster;
  const allowed = Math.ceil(share(rollingUpdate?.maxUnavailable ?? 1, pods.length));
  // What is old and does not serve is replaced in any case, and is missed only from then on.
  const down = pods.filter((pod) => !isHealthy(pod) && !old.includes(pod)).length;
  const [broken, serving] = [old.filter((pod) => !isHealthy(pod)), old.filter(isHealthy)];
  const going = [...broken, ...serving.slice(0, Math.max(0, allowed - down))];
  return stopPods(cluster, going, moment);
}
