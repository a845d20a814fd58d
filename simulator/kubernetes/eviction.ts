// SPDX-License-Identifier: Apache-2.0
import type { Cluster, KubernetesObject } from "../machine/world.ts";
import { ApiError } from "./status.ts";
import { listObjects, updateObject } from "./store.ts";

interface BudgetFields {
  readonly spec?: {
    readonly minAvailable?: number | string;
    readonly maxUnavailable?: number | string;
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
  };
}

/** Checks the disruption budgets for one more pod to go. Throws 429 when one would be broken. */
export function requireEvictable(cluster: Cluster, pod: KubernetesObject): void {
  const spent = budgetsFor(cluster, pod).find((budget) => disruptionsAllowed(cluster, budget) <= 0);
  if (spent === undefined || !isHealthy(pod)) return;
  const message = `The disruption budget ${spent.metadata.name} does not allow evicting pods currently`;
  throw new ApiError(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: "DisruptionBudget", message }],
  });
}

function budgetsFor(cluster: Cluster, pod: KubernetesObject): KubernetesObject[] {
  return listObjects(cluster, "poddisruptionbudgets.policy", pod.metadata.namespace).filter((budget) =>
    selects(budget, pod),
  );
}

function selects(budget: KubernetesObject, pod: KubernetesObject): boolean {
  const wanted = (budget as BudgetFields).spec?.selector?.matchLabels ?? {};
  return Object.entries(wanted).every(([key, value]) => pod.metadata.labels?.[key] === value);
}

/** The budget with its status as its pods are now. */
export function countBudget(cluster: Cluster, budget: KubernetesObject): Cluster {
  const pods = listObjects(cluster, "pods", budget.metadata.namespace).filter((pod) => selects(budget, pod));
  const status = {
    currentHealthy: pods.filter(isHealthy).length,
    desiredHealthy: pods.filter(isHealthy).length - disruptionsAllowed(cluster, budget),
    disruptionsAllowed: Math.max(0, disruptionsAllowed(cluster, budget)),
    expectedPods: pods.length,
    observedGeneration: budget.metadata.generation,
  };
  return updateObject(cluster, "poddisruptionbudgets.policy", { ...budget, status });
}

function disruptionsAllowed(cluster: Cluster, budget: KubernetesObject): number {
  const pods = listObjects(cluster, "pods", budget.metadata.namespace).filter((pod) => selects(budget, pod));
  const healthy = pods.filter(isHealthy).length;
  const { minAvailable, maxUnavailable } = (budget as BudgetFields).spec ?? {};
  if (maxUnavailable !== undefined) return Math.ceil(share(maxUnavailable, pods.length)) - (pods.length - healthy);
  return healthy - Math.ceil(share(minAvailable ?? 0, pods.length));
}

/** So many, or a share such as 25%: perhaps not a whole number then. */
export function share(value: number | string, total: number): number {
  return typeof value === "number" ? value : (Number.parseFloat(value) / 100) * total;
}

export function isHealthy(pod: KubernetesObject): boolean {
  const status = pod.status as { conditions?: readonly { type: string; status: string }[] } | undefined;
  const ready = status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True");
  return ready === true && pod.metadata.deletionTimestamp === undefined;
}
