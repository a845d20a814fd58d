// SPDX-License-Identifier: Apache-2.0
import { undefinedIf } from "../failures.ts";
import type { WorkloadKind, WorkloadOptions, WorkloadStatus } from "../machines.ts";
import type { KubernetesApi } from "./api.ts";
import { containersOf, isReady, type Pod, readPods, readSelector, readWorkload } from "./objects.ts";

const namespace = "kube-system";

/**
 * A workload of kube-system; undefined when there is none. Its pods are counted here: its own numbers are as old as its
 * controller's last look, which may be before a restore. A daemon set counts every node, also one that will never answer
 * again: pods on the nodes of `without` are left out.
 */
export async function workloadStatus(
  api: KubernetesApi,
  kind: WorkloadKind,
  name: string,
  { without = [], runs = () => true, signal }: WorkloadOptions = {},
): Promise<WorkloadStatus | undefined> {
  const path = `/apis/apps/v1/namespaces/${namespace}/${kind}/${encodeURIComponent(name)}`;
  const answer = await api.call(path, { signal }).catch(undefinedIf("not-found"));
  if (answer === undefined) return undefined;
  const selector = encodeURIComponent(readSelector(answer));
  const found = await api.call(`/api/v1/namespaces/${namespace}/pods?labelSelector=${selector}`, { signal });
  const pods = readPods(found).filter(ownedBy[kind](name));
  const others = onOtherNodes(readWorkload(answer), pods, kind === "daemonsets" ? new Set(without) : new Set());
  const ready = others.pods.filter((pod) => isReady(pod) && runs(pod.spec.nodeName, containersOf(pod))).length;
  return { ...others.status, ready };
}

/** Pods of a deployment belong to one of its replica sets. */
const ownedBy = {
  daemonsets: (name: string) => (pod: Pod) => isOwned(pod, "DaemonSet", (owner) => owner === name),
  deployments: (name: string) => (pod: Pod) => isOwned(pod, "ReplicaSet", (owner) => owner.startsWith(`${name}-`)),
} as const;

function isOwned({ metadata }: Pod, kind: string, isOwner: (name: string) => boolean): boolean {
  return metadata.ownerReferences.some((owner) => owner.kind === kind && isOwner(owner.name));
}

type Numbers = Omit<WorkloadStatus, "ready">;

const revision = "controller-revision-hash";

/** What is left of a workload without the pods of some nodes. Its newest pod has its newest template. */
function onOtherNodes(
  status: Numbers,
  pods: readonly Pod[],
  nodes: ReadonlySet<string>,
): { readonly status: Numbers; readonly pods: readonly Pod[] } {
  const left = pods.filter(
    ({ spec, metadata }) => !nodes.has(spec.nodeName) && metadata.deletionTimestamp === undefined,
  );
  if (nodes.size === 0) return { status, pods: left };
  const counted = new Set(pods.filter(({ spec }) => nodes.has(spec.nodeName)).map(({ spec }) => spec.nodeName));
  const newest = [...pods].sort((a, b) => a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp));
  const template = newest.at(-1)?.metadata.labels[revision];
  const updated = left.filter(({ metadata }) => metadata.labels[revision] === template).length;
  const wanted = Math.max(0, status.wanted - counted.size);
  return { status: { ...status, wanted, updated: status.updated === 0 ? 0 : updated }, pods: left };
}
