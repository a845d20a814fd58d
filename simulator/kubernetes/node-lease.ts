// SPDX-License-Identifier: Apache-2.0
import type { Cluster, KubernetesObject } from "../machine/world.ts";
import type { NewObject } from "./store.ts";

export const nodeLeaseNamespace = "kube-node-lease";

/** Kubelets renew every ten seconds. */
const period = 10_000;

/** The lease that a kubelet holds for its node. */
export function nodeLease(node: KubernetesObject, now: number): NewObject {
  const { name, uid } = node.metadata;
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: {
      name,
      namespace: nodeLeaseNamespace,
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }],
    },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: microTime(now) },
  };
}

/**
 * A node's lease as it reads now. Renewals follow from the kubelet's record when somebody looks: a write every ten
 * seconds for each of a thousand idle nodes would be most of what the simulator does.
 */
export function leaseAsOf(cluster: Cluster, object: KubernetesObject, now: number): KubernetesObject {
  if (object.kind !== "Lease" || object.metadata.namespace !== nodeLeaseNamespace) return object;
  const record = cluster.kubelets[object.metadata.name];
  if (record === undefined) return object;
  const heard = record.silentSince ?? now;
  const renewed = heard - ((heard - record.registeredAt) % period);
  return { ...object, spec: { ...(object.spec as object), renewTime: microTime(renewed) } };
}

function microTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, -1)}000Z`;
}
