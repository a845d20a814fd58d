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

/** Checks the disruption budgets for one more pod to go. Throws 429 when one would be broken; returns them counted down. */
export function evict(cluster: Cluster, pod: KubernetesObject): Cluster {
  return budgetsFor(cluster, pod).reduce((next, budget) => {
    const allowed = disruptionsAllowed(next, budget);
    if (allowed <= 0 && isHealthy(pod)) {
      throw new ApiError(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", {
        causes: [
          {
            reason: "DisruptionBudget",
            message: `The disruption budget ${budget.metadata.name} does not allow evicting pods currently`,
          },
        ],
      });
    }
    const status = { ...(budget.status as object | undefined), disruptionsAllowed: Math.max(0, allowed - 1) };
    return updateObject(next, "poddisruptionbudgets.policy", { ...budget, status });
  }, cluster);
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

function disruptionsAllowed(cluster: Cluster, budget: KubernetesObject): number {
  const pods = listObjects(cluster, "pods", budget.metadata.namespace).filter((pod) => selects(budget, pod));
  const healthy = pods.filter(isHealthy).length;
  const { minAvailable, maxUnavailable } = (budget as BudgetFields).spec ?? {};
  if (maxUnavailable !== undefined) return amount(maxUnavailable, pods.length) - (pods.length - healthy);
  return healthy - amount(minAvailable ?? 0, pods.length);
}

function amount(value: number | string, total: number): number {
  return typeof value === "number" ? value : Math.ceil((Number.parseFloat(value) / 100) * total);
}

export function isHealthy(pod: KubernetesObject): boolean {
  const status = pod.status as { conditions?: readonly { type: string; status: string }[] } | undefined;
  const ready = status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True");
  return ready === true && pod.metadata.deletionTimestamp === undefined;
}
