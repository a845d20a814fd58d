// SPDX-License-Identifier: Apache-2.0
import type { KubernetesObject } from "../machine/world.ts";
import { isTree, type Tree } from "./field-paths.ts";
import { applyPatch } from "./patch.ts";
import { ApiError } from "./status.ts";

/** The `scale` view of a workload, which `kubectl scale` and autoscalers use. */
export function scaleOf(workload: KubernetesObject): Tree {
  const spec = isTree(workload.spec) ? workload.spec : {};
  const status = isTree(workload.status) ? workload.status : {};
  const labels = isTree(spec.selector) && isTree(spec.selector.matchLabels) ? spec.selector.matchLabels : {};
  const selector = Object.entries(labels).map(([key, value]) => `${key}=${String(value)}`);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = workload.metadata;
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: spec.replicas ?? 1 },
    status: { replicas: status.replicas ?? 0, selector: selector.join(",") },
  };
}

/** The workload with the replicas that a written `Scale` asks for, whole or as a patch. */
export function scaled(workload: KubernetesObject, input: unknown, contentType: string): KubernetesObject {
  const view = contentType.includes("patch") ? applyPatch(scaleOf(workload), contentType, input) : input;
  const replicas = isTree(view) && isTree(view.spec) ? view.spec.replicas : undefined;
  if (typeof replicas !== "number" || replicas < 0) {
    throw new ApiError(422, "Invalid", "spec.replicas: Invalid value: must be greater than or equal to 0");
  }
  const expected = isTree(view) && isTree(view.metadata) ? view.metadata.resourceVersion : undefined;
  const metadata =
    typeof expected === "string" ? { ...workload.metadata, resourceVersion: expected } : workload.metadata;
  return { ...workload, metadata, spec: { ...(workload.spec as object), replicas } };
}
