// SPDX-License-Identifier: Apache-2.0
import type { Environment } from "./environment.ts";

/** Pod networks whose ports are known; `other` is one that the file does not tell. */
export type PodNetwork = "flannel" | "cilium" | "calico" | "other";

const marks: readonly (readonly [RegExp, PodNetwork])[] = [
  [/cilium/i, "cilium"],
  [/calico|tigera/i, "calico"],
  [/flannel/i, "flannel"],
];

/** The pod network of an environment: Talos's own, or what its add-ons and manifests are called. */
export function podNetworkOf({ cluster: { cni }, addons }: Pick<Environment, "cluster" | "addons">): PodNetwork {
  if (cni === "flannel") return "flannel";
  const names = addons.flatMap(({ cni: isNetwork, name, chart }) => (isNetwork ? [name, chart] : []));
  const urls = typeof cni === "string" ? [] : cni.urls;
  const words = [...names, ...urls].join(" ");
  return marks.find(([mark]) => mark.test(words))?.[1] ?? "other";
}
