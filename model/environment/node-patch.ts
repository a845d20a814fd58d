// SPDX-License-Identifier: Apache-2.0
import { stringify } from "yaml";
import type { Contract } from "../../talos/version/index.ts";

interface NodeMarks {
  readonly labels?: { readonly [key: string]: string } | undefined;
  readonly taints?: { readonly [key: string]: string } | undefined;
}

/** The config patch that gives a machine its Kubernetes labels and taints, or undefined without any. */
export function nodePatch(contract: Contract, { labels = {}, taints = {} }: NodeMarks): string | undefined {
  const has = (map: object) => Object.keys(map).length > 0;
  if (!has(labels) && !has(taints)) return undefined;
  const options = { sortMapEntries: true };
  if (contract.kubernetesDocuments) {
    const document = { ...(has(labels) ? { labels } : {}), ...(has(taints) ? { taints } : {}) };
    return stringify({ apiVersion: "v1alpha1", kind: "KubeNodeConfig", ...document }, options);
  }
  const machine = { ...(has(labels) ? { nodeLabels: labels } : {}), ...(has(taints) ? { nodeTaints: taints } : {}) };
  return stringify({ machine }, options);
}
