// SPDX-License-Identifier: Apache-2.0
import { type Cluster, type KubernetesObject, specOf, statusOf } from "../machine/world.ts";
import { matches, type Selector } from "./selectors.ts";
import { ApiError } from "./status.ts";
import { listObjects, updateObject } from "./store.ts";

const budgets = "poddisruptionbudgets.policy";

interface BudgetSpec {
  readonly minAvailable: number | string;
  readonly maxUnavailable: number | string;
  readonly unhealthyPodEvictionPolicy: "IfHealthyBudget" | "AlwaysAllow";
  readonly selector: Selector | null;
}

/** Checks the disruption budgets for one more pod to go. Throws 429 when one would be broken, 500 where there are several. */
export function requireEvictable(cluster: Cluster, pod: KubernetesObject): void {
  const { phase } = statusOf<{ phase?: string }>(pod);
  // What does not serve yet, or no more, is in no budget's way.
  if (phase !== "Running" || pod.metadata.deletionTimestamp !== undefined) return;
  const [budget, ...others] = budgetsFor(cluster, pod);
  if (budget === undefined) return;
  if (others.length > 0) {
    const message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    throw new ApiError("InternalError", message);
  }
  const { allowed, currentHealthy, uncounted } = countsOf(cluster, budget);
  const least = currentHealthy - allowed;
  const { unhealthyPodEvictionPolicy } = specOf<BudgetSpec>(budget);
  const isSpare = unhealthyPodEvictionPolicy === "AlwaysAllow" || (least > 0 && currentHealthy >= least);
  if (allowed > 0 || (!isHealthy(pod) && isSpare)) return;
  const needs = uncounted
    ? "does not allow evicting pods currently"
    : `needs ${least} healthy pods and has ${currentHealthy} currently`;
  const message = `The disruption budget ${budget.metadata.name} ${needs}`;
  throw new ApiError("TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: "DisruptionBudget", message }],
  });
}

function budgetsFor(cluster: Cluster, pod: KubernetesObject): KubernetesObject[] {
  return listObjects(cluster, budgets, pod.metadata.namespace).filter((budget) => selects(budget, pod));
}

/** No selector selects nothing, an empty one everything. */
function selects(budget: KubernetesObject, pod: KubernetesObject): boolean {
  const { selector } = specOf<BudgetSpec>(budget);
  return selector !== undefined && selector !== null && matches(selector, pod.metadata.labels ?? {});
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
  // Of how many a share is meant only the pods' controllers know.
  const isShare = maxUnavailable !== undefined || typeof minAvailable === "string";
  if (isShare && pods.some((pod) => pod.metadata.ownerReferences === undefined))
    return { expectedPods: 0, currentHealthy, allowed: 0, uncounted: true };
  const least =
    maxUnavailable === undefined
      ? Math.ceil(share(minAvailable, expectedPods))
      : expectedPods - Math.ceil(share(maxUnavailable, expectedPods));
  return { expectedPods, currentHealthy, allowed: currentHealthy - least, uncounted: false };
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
