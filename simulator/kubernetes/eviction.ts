// SPDX-License-Identifier: Apache-2.0
import { type Cluster, type KubernetesObject, specOf, statusOf } from "../machine/world.ts";
import { ApiError } from "./status.ts";
import { listObjects, updateObject } from "./store.ts";

const budgets = "poddisruptionbudgets.policy";

interface BudgetSpec {
  readonly minAvailable: number | string;
  readonly maxUnavailable: number | string;
  readonly selector: { readonly matchLabels?: Readonly<Record<string, string>> };
}

/** Checks the disruption budgets for one more pod to go. Throws 429 when one would be broken. */
export function requireEvictable(cluster: Cluster, pod: KubernetesObject): void {
  const spent = budgetsFor(cluster, pod).find((budget) => countsOf(cluster, budget).allowed <= 0);
  if (spent === undefined || !isHealthy(pod)) return;
  const message = `The disruption budget ${spent.metadata.name} does not allow evicting pods currently`;
  throw new ApiError("TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: "DisruptionBudget", message }],
  });
}

function budgetsFor(cluster: Cluster, pod: KubernetesObject): KubernetesObject[] {
  return listObjects(cluster, budgets, pod.metadata.namespace).filter((budget) => selects(budget, pod));
}

function selects(budget: KubernetesObject, pod: KubernetesObject): boolean {
  const wanted = specOf<BudgetSpec>(budget).selector?.matchLabels ?? {};
  return Object.entries(wanted).every(([key, value]) => pod.metadata.labels?.[key] === value);
}

/** The budget with its status as its pods are now. */
export function countBudget(cluster: Cluster, budget: KubernetesObject): Cluster {
  const { expectedPods, currentHealthy, allowed } = countsOf(cluster, budget);
  const status = {
    currentHealthy,
    desiredHealthy: currentHealthy - allowed,
    disruptionsAllowed: Math.max(0, allowed),
    expectedPods,
    observedGeneration: budget.metadata.generation,
  };
  return updateObject(cluster, budgets, { ...budget, status });
}

function countsOf(cluster: Cluster, budget: KubernetesObject) {
  const pods = listObjects(cluster, "pods", budget.metadata.namespace).filter((pod) => selects(budget, pod));
  const [expectedPods, currentHealthy] = [pods.length, pods.filter(isHealthy).length];
  const { minAvailable = 0, maxUnavailable } = specOf<BudgetSpec>(budget);
  const least =
    maxUnavailable === undefined
      ? Math.ceil(share(minAvailable, expectedPods))
      : expectedPods - Math.ceil(share(maxUnavailable, expectedPods));
  return { expectedPods, currentHealthy, allowed: currentHealthy - least };
}

/** So many, or a share such as 25%: perhaps not a whole number then. */
export function share(value: number | string, total: number): number {
  return typeof value === "number" ? value : (Number.parseFloat(value) / 100) * total;
}

export function isHealthy(pod: KubernetesObject): boolean {
  const { conditions } = statusOf<{ conditions: readonly { type: string; status: string }[] }>(pod);
  const ready = conditions?.some((condition) => condition.type === "Ready" && condition.status === "True");
  return ready === true && pod.metadata.deletionTimestamp === undefined;
}
