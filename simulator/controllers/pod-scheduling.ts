// SPDX-License-Identifier: Apache-2.0
import { recordEvent } from "../kubernetes/events.ts";
import { isHealthy } from "../kubernetes/eviction.ts";
import { isNodeReady, isUnschedulable, readyStatusOf } from "../kubernetes/node.ts";
import {
  isMirror,
  isStopping,
  nodeNameOf,
  runningStatus,
  runsOn,
  succeededStatus,
  unpullable,
  waitingStatus,
} from "../kubernetes/pod.ts";
import { createObject, getObject, listObjects, updateObject } from "../kubernetes/store.ts";
import type { Moment } from "../machine/timings.ts";
import {
  type Cluster,
  isTree,
  type KubernetesObject,
  type Machine,
  specOf,
  statusOf,
  tree,
  type World,
  without,
} from "../machine/world.ts";

interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

/** Gives every waiting pod a node that takes it. */
export function schedulePods(cluster: Cluster, moment: Moment): Cluster {
  return listObjects(cluster, "pods")
    .filter((pod) => nodeNameOf(pod) === undefined && !isStopping(pod))
    .reduce((next, pod) => schedule(next, pod, moment), cluster);
}

function schedule(cluster: Cluster, pod: KubernetesObject, moment: Moment): Cluster {
  const claim = unboundClaim(cluster, pod);
  const node = claim === undefined ? chooseNode(cluster, pod) : undefined;
  if (node !== undefined) {
    const conditions = [{ type: "PodScheduled", status: "True" }];
    const bound = {
      ...pod,
      spec: { ...(pod.spec as object), nodeName: node },
      status: { phase: "Pending", conditions },
    };
    return beginPod(updateObject(cluster, "pods", bound), pod.metadata, moment);
  }
  const count = listObjects(cluster, "nodes").length;
  const message =
    claim === undefined
      ? `0/${count} nodes are available: ${count} node(s) didn't match the pod's node selector, had untolerated taints or were not ready.`
      : `0/${count} nodes are available: pod has unbound immediate PersistentVolumeClaims.`;
  const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }];
  const status = { phase: "Pending", conditions };
  if (JSON.stringify(pod.status) === JSON.stringify(status)) return cluster;
  const waiting = updateObject(cluster, "pods", { ...pod, status });
  const told = {
    about: pod,
    type: "Warning",
    reason: "FailedScheduling",
    message,
    source: "default-scheduler",
  } as const;
  return recordEvent(waiting, told, moment);
}

/** The node with the fewest pods of the same owner, workers before control planes. */
function chooseNode(cluster: Cluster, pod: KubernetesObject): string | undefined {
  const owner = ownerOf(pod);
  const siblings = listObjects(cluster, "pods", pod.metadata.namespace).filter(
    (other) => owner !== undefined && ownerOf(other) === owner,
  );
  const load = (node: KubernetesObject): number =>
    siblings.filter((other) => nodeNameOf(other) === node.metadata.name).length;
  const control = (node: KubernetesObject): number =>
    node.metadata.labels?.["node-role.kubernetes.io/control-plane"] === undefined ? 0 : 1;
  const open = listObjects(cluster, "nodes").filter(
    (node) => isNodeReady(node) && !isUnschedulable(node) && nodeTakes(node, pod),
  );
  const [best] = open.sort((a, b) => control(a) - control(b) || load(a) - load(b));
  return best?.metadata.name;
}

function ownerOf(pod: KubernetesObject): string | undefined {
  return (pod.metadata.ownerReferences as readonly { readonly uid: string }[] | undefined)?.[0]?.uid;
}

/** The node selector matches and every taint is tolerated. `pod` may also be a template. */
export function nodeTakes(node: KubernetesObject, pod: { readonly [field: string]: unknown }): boolean {
  const spec = tree(pod.spec);
  const labels = node.metadata.labels ?? {};
  const selected = Object.entries(tree(spec.nodeSelector)).every(([key, value]) => labels[key] === value);
  const tolerations = (Array.isArray(spec.tolerations) ? spec.tolerations : []) as readonly Toleration[];
  const taints = (specOf<{ taints?: readonly Taint[] }>(node).taints ?? []).filter(
    (taint) => taint.effect !== "PreferNoSchedule",
  );
  return selected && taints.every((taint) => tolerations.some((toleration) => tolerates(toleration, taint)));
}

function tolerates({ key, operator = "Equal", value = "", effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== "" && effect !== taint.effect) return false;
  if (key === undefined || key === "") return operator === "Exists";
  return key === taint.key && (operator === "Exists" || value === (taint.value ?? ""));
}

/** The pod's first volume claim that is not there or has no volume and won't get one before the pod has a node. */
function unboundClaim(cluster: Cluster, pod: KubernetesObject): string | undefined {
  const volumes = specOf<{ volumes?: readonly { persistentVolumeClaim?: { claimName: string } }[] }>(pod).volumes;
  const names = (volumes ?? []).flatMap((volume) => volume.persistentVolumeClaim?.claimName ?? []);
  return names.find((name) => {
    const claim = getObject(cluster, "persistentvolumeclaims", pod.metadata.namespace, name);
    return (claim?.status as { phase?: string } | undefined)?.phase !== "Bound";
  });
}

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
    const host = hostOf(world, next, pod);
    if (node === undefined || (canRun(pod, node) && !isFromBefore(next, pod, host, moment))) continue;
    next = updateObject(next, "pods", { ...pod, status: runningStatus(pod, host, false, moment.now) });
    next = beginPod(next, pod.metadata, moment);
  }
  return next;
}

/**
 * A pod that is ready by what a snapshot or the time before a reboot says. Its kubelet starts it again, and says so only
 * some time after it has reported its node.
 */
function isFromBefore(
  { kubelets }: Cluster,
  pod: KubernetesObject,
  host: Machine | undefined,
  { now, timings }: Moment,
): boolean {
  const record = kubelets[nodeNameOf(pod) ?? ""];
  if (host === undefined || record === undefined || record.silentSince !== undefined || isMirror(pod)) return false;
  return record.registeredAt + timings.nodeReady + timings.podStart <= now && !runsOn(pod, host);
}

/** A node that is not ready only lacks a network: its kubelet runs on, and so do the pods that use the host's. */
function canRun(pod: KubernetesObject, node: KubernetesObject): boolean {
  const onHostNetwork = specOf<{ hostNetwork?: boolean }>(pod).hostNetwork === true;
  return isNodeReady(node) || (onHostNetwork && readyStatusOf(node) === "False");
}

/** One step of a pod's life: pending, running, and for a job's pod done. */
function advance(world: World, cluster: Cluster, pod: KubernetesObject, moment: Moment): Cluster {
  const host = hostOf(world, cluster, pod);
  const bad = unpullable(pod);
  if (bad !== undefined) {
    const status = waitingStatus(pod, host?.address ?? "", bad.name, moment.now);
    const failed = updateObject(cluster, "pods", { ...pod, status });
    const message = `Failed to pull image "${bad.image}": failed to resolve reference "${bad.image}": not found`;
    return recordEvent(failed, { about: pod, type: "Warning", reason: "Failed", message, source: "kubelet" }, moment);
  }
  const runs = statusOf<{ phase?: string }>(pod).phase === "Running";
  if (runs && isJobPod(pod)) return updateObject(cluster, "pods", { ...pod, status: succeededStatus(pod, moment.now) });
  const started = updateObject(cluster, "pods", { ...pod, status: runningStatus(pod, host, true, moment.now) });
  return isJobPod(pod) ? beginPod(started, pod.metadata, moment) : started;
}

/** Pods of jobs end by themselves; what any other container would do nobody knows, so it runs. */
function isJobPod(pod: KubernetesObject): boolean {
  const owners = pod.metadata.ownerReferences as readonly { readonly kind: string }[] | undefined;
  return owners?.[0]?.kind === "Job";
}

function hostOf(world: World, cluster: Cluster, pod: KubernetesObject): Machine | undefined {
  return world.machines[cluster.kubelets[nodeNameOf(pod) ?? ""]?.machine ?? ""];
}

const defaultClass = "storageclass.kubernetes.io/is-default-class";

interface ClaimSpec {
  readonly storageClassName?: string;
  readonly volumeName?: string;
  readonly accessModes?: readonly string[];
  readonly resources?: { readonly requests?: { readonly storage?: string } };
}

/** Gives a claim the volume that its storage class provisions; a claim without a class that exists waits. */
export function bindClaims(cluster: Cluster, moment: Moment): Cluster {
  return listObjects(cluster, "persistentvolumeclaims").reduce((next, claim) => bind(next, claim, moment), cluster);
}

function bind(cluster: Cluster, claim: KubernetesObject, moment: Moment): Cluster {
  const spec = specOf<ClaimSpec>(claim);
  if (isTree(claim.status) && claim.status.phase === "Bound") return cluster;
  const wanted = classOf(cluster, spec);
  if (wanted === undefined || wanted.provisioner === "kubernetes.io/no-provisioner") return cluster;
  const name = `pvc-${claim.metadata.uid}`;
  const capacity = { storage: spec.resources?.requests?.storage ?? "1Gi" };
  const { namespace, uid } = claim.metadata;
  const volume = {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name, annotations: { "pv.kubernetes.io/provisioned-by": String(wanted.provisioner) } },
    spec: {
      accessModes: spec.accessModes ?? ["ReadWriteOnce"],
      capacity,
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", name: claim.metadata.name, namespace, uid },
      csi: { driver: String(wanted.provisioner), volumeHandle: name },
      persistentVolumeReclaimPolicy: String(wanted.reclaimPolicy ?? "Delete"),
      storageClassName: wanted.metadata.name,
      volumeMode: "Filesystem",
    },
    status: { phase: "Bound" },
  };
  const made =
    getObject(cluster, "persistentvolumes", undefined, name) === undefined
      ? createObject(cluster, "persistentvolumes", volume, moment)
      : cluster;
  const bound = { ...spec, storageClassName: wanted.metadata.name, volumeName: name };
  const status = { phase: "Bound", accessModes: spec.accessModes ?? ["ReadWriteOnce"], capacity };
  return updateObject(made, "persistentvolumeclaims", { ...claim, spec: bound, status });
}

function classOf(cluster: Cluster, spec: ClaimSpec): KubernetesObject | undefined {
  const classes = listObjects(cluster, "storageclasses.storage.k8s.io");
  if (spec.storageClassName === undefined) {
    return classes.find((candidate) => candidate.metadata.annotations?.[defaultClass] === "true");
  }
  return classes.find((candidate) => candidate.metadata.name === spec.storageClassName);
}
