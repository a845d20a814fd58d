// SPDX-License-Identifier: Apache-2.0
import { isHealthy } from "../kubernetes/eviction.ts";
import { isStopping, podFrom, podsOf, stopPod, templateHash, templateOf } from "../kubernetes/pod.ts";
import { createObject, getObject, type NewObject, updateObject } from "../kubernetes/store.ts";
import type { Moment } from "../machine/timings.ts";
import { type Cluster, type KubernetesObject, specOf, statusOf } from "../machine/world.ts";
import { replicasOf } from "./replica-sets.ts";

interface StatefulSpec {
  readonly podManagementPolicy?: string;
  readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: { readonly partition?: number } };
  readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string }; readonly spec?: unknown }[];
}

const revisionLabel = "controller-revision-hash";

/** Pods with numbers and volumes of their own: up in order, replaced from the last to the first, one at a time. */
export function tendStatefulSet(cluster: Cluster, set: KubernetesObject, moment: Moment): Cluster {
  const revision = `${set.metadata.name}-${templateHash(set)}`;
  const spec = specOf<StatefulSpec>(set);
  const names = Array.from({ length: replicasOf(set) }, (_, index) => `${set.metadata.name}-${index}`);
  const filled = fill(cluster, set, names, revision, moment);
  const pods = podsOf(filled, set);
  const extra = pods.filter((pod) => !names.includes(pod.metadata.name));
  const trimmed = extra.reduce((next, pod) => stopPod(next, pod, moment), filled);
  const rolled = extra.length > 0 ? trimmed : roll(trimmed, spec, names, pods, revision, moment);
  const alive = podsOf(rolled, set).filter((pod) => !isStopping(pod));
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

function fill(
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

function roll(
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
