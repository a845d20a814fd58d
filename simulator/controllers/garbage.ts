// SPDX-License-Identifier: Apache-2.0
import { nodeNameOf } from "../kubernetes/pod.ts";
import { stopPod } from "../kubernetes/pod-removal.ts";
import { deleteObject, getObject, listObjects } from "../kubernetes/store.ts";
import type { Moment } from "../machine/moment.ts";
import type { Cluster, KubernetesObject } from "../machine/world.ts";

/** Takes away what nobody holds any more: dependents of deleted owners, pods of deleted nodes, what was in deleted namespaces. */
export function collectGarbage(cluster: Cluster, moment: Moment): Cluster {
  return emptyNamespaces(dropOrphans(dropDependents(cluster, moment)), moment);
}

function dropDependents(cluster: Cluster, moment: Moment): Cluster {
  const alive = new Set(Object.values(cluster.objects).map((object) => object.metadata.uid));
  return Object.entries(cluster.objects).reduce((next, [key, object]) => {
    const owners = (object.metadata.ownerReferences ?? []) as readonly { readonly uid: string }[];
    if (owners.length === 0 || owners.some(({ uid }) => alive.has(uid))) return next;
    return discard(next, key, object, moment);
  }, cluster);
}

/** Pods of nodes that are no longer there. */
function dropOrphans(cluster: Cluster): Cluster {
  return listObjects(cluster, "pods").reduce((next, pod) => {
    const node = nodeNameOf(pod);
    if (node === undefined || getObject(next, "nodes", undefined, node) !== undefined) return next;
    return deleteObject(next, "pods", pod.metadata.namespace, pod.metadata.name);
  }, cluster);
}

function emptyNamespaces(cluster: Cluster, moment: Moment): Cluster {
  const going = listObjects(cluster, "namespaces").filter((home) => home.metadata.deletionTimestamp !== undefined);
  return going.reduce((next, { metadata: { name } }) => {
    const inside = Object.entries(next.objects).filter(([, object]) => object.metadata.namespace === name);
    if (inside.length === 0) return deleteObject(next, "namespaces", undefined, name);
    return inside.reduce((state, [key, object]) => discard(state, key, object, moment), next);
  }, cluster);
}

function discard(cluster: Cluster, key: string, object: KubernetesObject, moment: Moment): Cluster {
  const [resource = ""] = key.split("/", 1);
  if (resource === "pods") return stopPod(cluster, object, moment);
  return deleteObject(cluster, resource, object.metadata.namespace, object.metadata.name);
}
