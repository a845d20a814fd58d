// SPDX-License-Identifier: Apache-2.0
import { undefinedIf } from "../failures.ts";
import type { WorkloadKind, WorkloadStatus } from "../machines.ts";
import type { KubernetesApi } from "./api.ts";
import { isReady, type Pod, readPods, readSelector, readWorkload } from "./objects.ts";

const namespace = "kube-system";

/**
 * A workload of kube-system; undefined when there is none. A daemon set counts every node, also one that will never
 * answer again: pods on the nodes of `without` are left out.
 */
export async function workloadStatus(
  api: KubernetesApi,
  kind: WorkloadKind,
  name: string,
  { without = [], signal }: { readonly without?: readonly string[]; readonly signal?: AbortSignal | undefined } = {},
): Promise<WorkloadStatus | undefined> {
  const path = `/apis/apps/v1/namespaces/${namespace}/${kind}/${encodeURIComponent(name)}`;
  const answer = await api.call(path, { signal }).catch(undefinedIf("not-found"));
  if (answer === undefined) return undefined;
  const status = readWorkload(answer);
  if (kind !== "daemonsets" || without.length === 0) return status;
  const selector = encodeURIComponent(readSelector(answer));
  const pods = readPods(await api.call(`/api/v1/namespaces/${namespace}/pods?labelSelector=${selector}`, { signal }));
  const own = pods.filter(({ metadata }) =>
    metadata.ownerReferences.some((owner) => owner.kind === "DaemonSet" && owner.name === name),
  );
  return onOtherNodes(status, own, new Set(without));
}

const revision = "controller-revision-hash";

/** What is left of a daemon set's numbers without the pods of some nodes. Its newest pod has its newest template. */
function onOtherNodes(status: WorkloadStatus, pods: readonly Pod[], nodes: ReadonlySet<string>): WorkloadStatus {
  const left = pods.filter(
    ({ spec, metadata }) => !nodes.has(spec.nodeName) && metadata.deletionTimestamp === undefined,
  );
  const counted = new Set(pods.filter(({ spec }) => nodes.has(spec.nodeName)).map(({ spec }) => spec.nodeName));
  const newest = [...pods].sort((a, b) => a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp));
  const template = newest.at(-1)?.metadata.labels[revision];
  const updated = left.filter(({ metadata }) => metadata.labels[revision] === template).length;
  return {
    wanted: Math.max(0, status.wanted - counted.size),
    updated: status.updated === 0 ? 0 : updated,
    ready: left.filter(isReady).length,
  };
}
