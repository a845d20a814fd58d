// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { undefinedIf } from "../failures.ts";
import type { KubernetesApi } from "./api.ts";
import { cordonMark, nodePath, type Pod, readNode, readPods } from "./objects.ts";

/** One round: cordon with our mark, send every pod away. Undefined when none is left, else what is in the way. */
export async function drainNode(
  api: KubernetesApi,
  node: string,
  how: "evict" | "delete",
  signal?: AbortSignal,
): Promise<string | undefined> {
  const found = await api.call(nodePath(node), { signal }).then(readNode, undefinedIf("not-found"));
  // Nothing runs on a node that is not there.
  if (found === undefined) return undefined;
  if (!found.unschedulable) {
    const body = { metadata: { annotations: { [cordonMark]: "true" } }, spec: { unschedulable: true } };
    await api.call(nodePath(node), { signal, method: "PATCH", body }).catch(undefinedIf("not-found"));
  }
  const selector = encodeURIComponent(`spec.nodeName=${node}`);
  const pods = readPods(await api.call(`/api/v1/pods?fieldSelector=${selector}`, { signal })).filter(mustGo);
  const obstacles = await Promise.all(pods.map((pod) => sendAway(api, pod, how, signal)));
  const blocked = obstacles.filter((obstacle) => obstacle !== undefined);
  if (pods.length === 0) return undefined;
  return blocked[0] ?? `waiting for ${pods.length} ${pods.length === 1 ? "pod" : "pods"} to terminate`;
}

/** A person's cordon, or its end: our mark has no part in the one and goes with the other. */
export async function setSchedulable(
  api: KubernetesApi,
  node: string,
  schedulable: boolean,
  signal?: AbortSignal,
): Promise<void> {
  const body = {
    metadata: { annotations: { [cordonMark]: null } },
    spec: { unschedulable: schedulable ? null : true },
  };
  await api.call(nodePath(node), { signal, method: "PATCH", body });
}

/** Lifts a cordon with our mark; anyone else's stays. */
export async function uncordonNode(api: KubernetesApi, node: string, signal?: AbortSignal): Promise<void> {
  if (readNode(await api.call(nodePath(node), { signal })).cordonedByUs) await setSchedulable(api, node, true, signal);
}

/** Static pods and those of daemon sets stay, as with `kubectl drain`; finished ones are in nobody's way. */
function mustGo(pod: Pod): boolean {
  if ("kubernetes.io/config.mirror" in pod.metadata.annotations) return false;
  if (["Succeeded", "Failed"].includes(pod.status.phase)) return false;
  return !pod.metadata.ownerReferences.some(({ kind, controller }) => controller && kind === "DaemonSet");
}

const namespaceEnds = /is forbidden: unable to create new content in namespace \S+ because it is being terminated/;

const severalBudgets = /more than one PodDisruptionBudget/;

async function sendAway(
  api: KubernetesApi,
  pod: Pod,
  how: "evict" | "delete",
  signal?: AbortSignal,
): Promise<string | undefined> {
  const { name, namespace, deletionTimestamp } = pod.metadata;
  if (deletionTimestamp !== undefined) return undefined;
  const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } };
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
  try {
    if (how === "delete") await api.call(path, { method: "DELETE", signal });
    else await api.call(`${path}/eviction`, { method: "POST", body, signal });
    return undefined;
  } catch (error) {
    const ours = TalosError.from(error);
    if (ours.code === "not-found") return undefined;
    if (ours.code === "conflict") return `a disruption budget keeps pod ${namespace}/${name}`;
    if (severalBudgets.test(ours.message)) {
      throw new TalosError(
        "failed-precondition",
        `pod ${namespace}/${name} has more than one disruption budget, and Kubernetes evicts no such pod`,
        {
          hint: `Let one budget select it: kubectl -n ${namespace} get pdb. rollout.stuckPods decides what else is done.`,
        },
      );
    }
    // In a namespace that is being deleted evictions are forbidden until the pod itself is.
    if (namespaceEnds.test(ours.message)) return `pod ${namespace}/${name} goes with its namespace`;
    throw ours;
  }
}
