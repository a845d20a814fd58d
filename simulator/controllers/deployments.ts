// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import { isHealthy, share } from "../kubernetes/eviction.ts";
import { livingPods, ownedBy, ownerReference, podsOf, templateHash, templateOf } from "../kubernetes/pod.ts";
import {
  createObject,
  deleteObject,
  listObjects,
  type NewObject,
  timestamp,
  updateObject,
} from "../kubernetes/store.ts";
import type { Moment } from "../machine/timings.ts";
import { type Cluster, type KubernetesObject, specOf, without } from "../machine/world.ts";
import { replicasOf } from "./pod-sets.ts";

const storage = "deployments.apps";
const revisionKey = "deployment.kubernetes.io/revision";

interface DeploymentSpec {
  readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
  readonly strategy?: {
    readonly type?: string;
    readonly rollingUpdate?: { readonly maxSurge?: number | string; readonly maxUnavailable?: number | string };
  };
  readonly paused?: boolean;
  readonly revisionHistoryLimit?: number;
  readonly progressDeadlineSeconds?: number;
}

/** One replica set per template; from one to the next step by step, as fast as the new pods become ready. */
export function tendDeployment(cluster: Cluster, deployment: KubernetesObject, moment: Moment): Cluster {
  const { paused } = specOf<DeploymentSpec>(deployment);
  const named = paused === true ? cluster : ensureCurrent(cluster, deployment, moment);
  const sets = setsOf(named, deployment);
  const current = sets.find((set) => set.metadata.name === setName(deployment));
  const sized = current === undefined ? named : resize(named, deployment, current, sets);
  return report(trimHistory(sized, deployment), deployment, moment);
}

function setName(deployment: KubernetesObject): string {
  return `${deployment.metadata.name}-${templateHash(deployment)}`;
}

function setsOf(cluster: Cluster, deployment: KubernetesObject): KubernetesObject[] {
  return listObjects(cluster, "replicasets.apps", deployment.metadata.namespace).filter((set) =>
    ownedBy(set, deployment.metadata.uid),
  );
}

function revisionOf(object: KubernetesObject): number {
  return Number(object.metadata.annotations?.[revisionKey] ?? 0);
}

/** The replica set of the template as it is now; a set from before gets the newest revision when it is wanted again. */
function ensureCurrent(cluster: Cluster, deployment: KubernetesObject, moment: Moment): Cluster {
  const sets = setsOf(cluster, deployment);
  const latest = Math.max(0, ...sets.map(revisionOf));
  const known = sets.find((set) => set.metadata.name === setName(deployment));
  const revision = known !== undefined && revisionOf(known) === latest ? latest : latest + 1;
  const annotations = { [revisionKey]: String(revision) };
  const noted = {
    ...deployment,
    metadata: { ...deployment.metadata, annotations: { ...deployment.metadata.annotations, ...annotations } },
  };
  const next = updateObject(cluster, storage, noted);
  if (known === undefined) return createObject(next, "replicasets.apps", newSet(deployment, annotations), moment);
  const metadata = { ...known.metadata, annotations: { ...known.metadata.annotations, ...annotations } };
  return updateObject(next, "replicasets.apps", { ...known, metadata });
}

function newSet(deployment: KubernetesObject, annotations: Readonly<Record<string, string>>): NewObject {
  const label = { "pod-template-hash": templateHash(deployment) };
  const template = templateOf(deployment);
  const labels = { ...template.metadata?.labels, ...label };
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: given({
      name: setName(deployment),
      namespace: deployment.metadata.namespace,
      labels,
      annotations: { ...deployment.metadata.annotations, ...annotations },
      ownerReferences: [ownerReference(deployment)],
    }),
    spec: {
      replicas: 0,
      selector: { matchLabels: { ...specOf<DeploymentSpec>(deployment).selector?.matchLabels, ...label } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

function resize(
  cluster: Cluster,
  deployment: KubernetesObject,
  current: KubernetesObject,
  sets: readonly KubernetesObject[],
): Cluster {
  const wanted = replicasOf(deployment);
  const old = sets.filter((set) => set !== current);
  const { strategy } = specOf<DeploymentSpec>(deployment);
  if (strategy?.type === "Recreate") {
    const emptied = old.reduce((next, set) => setReplicas(next, set, 0), cluster);
    return old.some((set) => podsOf(emptied, set).length > 0) ? emptied : setReplicas(emptied, current, wanted);
  }
  const surge = Math.ceil(share(strategy?.rollingUpdate?.maxSurge ?? "25%", wanted));
  const missing = Math.floor(share(strategy?.rollingUpdate?.maxUnavailable ?? "25%", wanted));
  const slack = surge === 0 && missing === 0 ? 1 : missing;
  const total = sets.reduce((sum, set) => sum + replicasOf(set), 0);
  const room = Math.max(0, wanted + surge - total);
  const grown = old.length === 0 ? wanted : Math.min(wanted, replicasOf(current) + room);
  const next = setReplicas(cluster, current, grown);
  const least = wanted - slack;
  const healthy = (set: KubernetesObject): number => podsOf(cluster, set).filter(isHealthy).length;
  let spare = total - replicasOf(current) + grown - least - Math.max(0, grown - healthy(current));
  let spareHealthy = sets.reduce((sum, set) => sum + healthy(set), 0) - least;
  return old.reduce((state, set) => {
    // What does not serve can go first; what serves only as far as enough others do.
    const broken = Math.min(Math.max(0, replicasOf(set) - healthy(set)), Math.max(0, spare));
    const serving = Math.max(0, Math.min(replicasOf(set) - broken, spare - broken, spareHealthy));
    spare -= broken + serving;
    spareHealthy -= serving;
    return setReplicas(state, set, replicasOf(set) - broken - serving);
  }, next);
}

function setReplicas(cluster: Cluster, set: KubernetesObject, replicas: number): Cluster {
  return updateObject(cluster, "replicasets.apps", { ...set, spec: { ...(set.spec as object), replicas } });
}

/** Empty replica sets beyond the limit go, oldest first. */
function trimHistory(cluster: Cluster, deployment: KubernetesObject): Cluster {
  const limit = specOf<DeploymentSpec>(deployment).revisionHistoryLimit ?? 10;
  const empty = setsOf(cluster, deployment)
    .filter((set) => replicasOf(set) === 0 && set.metadata.name !== setName(deployment))
    .sort((a, b) => revisionOf(b) - revisionOf(a));
  return empty
    .slice(limit)
    .reduce((next, set) => deleteObject(next, "replicasets.apps", set.metadata.namespace, set.metadata.name), cluster);
}

function report(cluster: Cluster, deployment: KubernetesObject, moment: Moment): Cluster {
  const { namespace = "", name } = deployment.metadata;
  const known = cluster.objects[`${storage}/${namespace}/${name}`] ?? deployment;
  const wanted = replicasOf(known);
  const sets = setsOf(cluster, known);
  const current = sets.find((set) => set.metadata.name === setName(known));
  const pods = sets.flatMap((set) => livingPods(cluster, set));
  const updated = current === undefined ? [] : livingPods(cluster, current);
  const ready = pods.filter(isHealthy).length;
  const done = updated.filter(isHealthy).length >= wanted && pods.length === updated.length;
  const missing = Math.floor(
    share(specOf<DeploymentSpec>(known).strategy?.rollingUpdate?.maxUnavailable ?? "25%", wanted),
  );
  const enough = ready >= wanted - missing;
  const key = `${namespace}/${name}`;
  const progress = `${current?.metadata.uid ?? ""}/${updated.filter(isHealthy).length}/${pods.length}`;
  const before = cluster.rollouts?.[key];
  const limit = (specOf<DeploymentSpec>(known).progressDeadlineSeconds ?? 600) * 1_000;
  const rollout = before?.progress === progress ? before : { progress, deadline: moment.now + limit };
  const late = !done && rollout.deadline <= moment.now;
  const set = setName(known);
  const conditions = [
    conditionNow(known.status, moment.now, {
      type: "Available",
      status: enough ? "True" : "False",
      reason: enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
      message: `Deployment ${enough ? "has" : "does not have"} minimum availability.`,
    }),
    conditionNow(known.status, moment.now, {
      type: "Progressing",
      status: late ? "False" : "True",
      ...progressing(set, done, late),
    }),
  ];
  const status = given({
    observedGeneration: known.metadata.generation,
    replicas: pods.length,
    updatedReplicas: updated.length,
    readyReplicas: ready,
    availableReplicas: ready,
    unavailableReplicas: ready < wanted ? wanted - ready : undefined,
    conditions,
  });
  const rollouts = cluster.rollouts ?? {};
  const noted: Cluster = done
    ? key in rollouts
      ? { ...cluster, rollouts: without(rollouts, key) }
      : cluster
    : rollout === before
      ? cluster
      : { ...cluster, rollouts: { ...rollouts, [key]: rollout } };
  return updateObject(noted, storage, { ...known, status });
}

function progressing(set: string, done: boolean, late: boolean): { readonly reason: string; readonly message: string } {
  if (done) return { reason: "NewReplicaSetAvailable", message: `ReplicaSet "${set}" has successfully progressed.` };
  if (late) return { reason: "ProgressDeadlineExceeded", message: `ReplicaSet "${set}" has timed out progressing.` };
  return { reason: "ReplicaSetUpdated", message: `ReplicaSet "${set}" is progressing.` };
}

interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly lastUpdateTime?: string;
}

/** The condition as it is now: its time moves only when its status does. */
function conditionNow(
  status: unknown,
  now: number,
  wanted: Pick<Condition, "type" | "status" | "reason" | "message">,
): Condition {
  const known = conditionsOf(status).find((held) => held.type === wanted.type);
  if (known?.status === wanted.status && known.reason === wanted.reason) return { ...known, ...wanted };
  const at = timestamp(now);
  const since = known?.status === wanted.status ? known.lastTransitionTime : at;
  return { ...wanted, lastTransitionTime: since, lastUpdateTime: at };
}

function conditionsOf(status: unknown): readonly Condition[] {
  return (status as { conditions?: readonly Condition[] } | undefined)?.conditions ?? [];
}
