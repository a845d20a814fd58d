// SPDX-License-Identifier: Apache-2.0
import type { KubernetesApi } from "./api.ts";
import { type Pod, readPods, waitingReason } from "./objects.ts";

/** A pod that does not get to run by itself. */
export interface StuckPod {
  readonly name: string;
  /** The release that it belongs to, where it says so; empty else. */
  readonly instance: string;
  readonly reason: string;
}

/** What a pod does before it runs. */
const passing = /^(ContainerCreating|PodInitializing)\b/;

export async function stuckPodsIn(
  api: KubernetesApi,
  namespace: string,
  signal?: AbortSignal,
): Promise<readonly StuckPod[]> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
  return readPods(await api.call(path, { signal })).flatMap((pod): StuckPod[] => {
    const reason = unschedulable(pod) ?? waitingReason(pod);
    if (reason === undefined || passing.test(reason)) return [];
    return [{ name: pod.metadata.name, instance: pod.metadata.labels["app.kubernetes.io/instance"] ?? "", reason }];
  });
}

function unschedulable({ status }: Pod): string | undefined {
  const condition = status.conditions.find(({ type, status: met }) => type === "PodScheduled" && met === "False");
  return condition && `not scheduled: ${condition.message}`;
}
