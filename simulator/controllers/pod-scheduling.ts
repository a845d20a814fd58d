// SPDX-License-Identifier: Apache-2.0
import { recordEvent } from "../kubernetes/events.ts";
import { isTree } from "../kubernetes/field-paths.ts";
import { isNodeReady, isUnschedulable } from "../kubernetes/node.ts";
import { isStopping, nodeNameOf } from "../kubernetes/pod.ts";
import { getObject, listObjects, updateObject } from "../kubernetes/store.ts";
import type { Moment } from "../machine/moment.ts";
import type { Cluster, KubernetesObject } from "../machine/world.ts";
import { beginPod } from "./pod-starts.ts";

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
  const spec = isTree(pod.spec) ? pod.spec : {};
  const labels = node.metadata.labels ?? {};
  const selected = Object.entries(isTree(spec.nodeSelector) ? spec.nodeSelector : {}).every(
    ([key, value]) => labels[key] === value,
  );
  const tolerations = (Array.isArray(spec.tolerations) ? spec.tolerations : []) as readonly Toleration[];
  const taints = ((node.spec as { taints?: readonly Taint[] } | undefined)?.taints ?? []).filter(
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
  const volumes = (pod.spec as { volumes?: readonly { persistentVolumeClaim?: { claimName: string } }[] } | undefined)
    ?.volumes;
  const names = (volumes ?? []).flatMap((volume) => volume.persistentVolumeClaim?.claimName ?? []);
  return names.find((name) => {
    const claim = getObject(cluster, "persistentvolumeclaims", pod.metadata.namespace, name);
    return (claim?.status as { phase?: string } | undefined)?.phase !== "Bound";
  });
}
