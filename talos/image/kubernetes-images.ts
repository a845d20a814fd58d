// SPDX-License-Identifier: Apache-2.0
import { type Contract, completeVersion, KubernetesVersion, parseSemanticVersion } from "../version/index.ts";

/** Versions to use instead of those of the release. */
export interface ImageVersions {
  readonly etcd?: string;
  readonly coredns?: string;
  readonly flannel?: string;
  readonly networkPolicies?: string;
}

/** The images that a cluster of this contract pulls, in talosctl's order. */
export function kubernetesImages(
  contract: Contract,
  kubernetesVersion: string,
  versions: ImageVersions = {},
): readonly string[] {
  const { tag } = KubernetesVersion.parse(completeVersion(kubernetesVersion));
  const { flannel, coredns, etcd, pause, networkPolicies } = contract.images;
  const component = (name: string): string => `registry.k8s.io/${name}:${tag}`;
  const images = [
    tagged(flannel, versions.flannel, "Flannel"),
    tagged(coredns, versions.coredns, "CoreDNS"),
    tagged(etcd, versions.etcd, "etcd"),
    pause,
    component("kube-apiserver"),
    component("kube-controller-manager"),
    component("kube-scheduler"),
    component("kube-proxy"),
    `ghcr.io/siderolabs/kubelet:${tag}`,
  ];
  if (networkPolicies !== undefined)
    images.push(tagged(networkPolicies, versions.networkPolicies, "kube-network-policies"));
  return images;
}

/** A version is written as the image's own tags are: with `v`, where they have it. */
function tagged(image: string, wish: string | undefined, what: string): string {
  if (wish === undefined) return image;
  const at = image.lastIndexOf(":");
  const { text } = parseSemanticVersion(completeVersion(wish), `a valid ${what}`, image.slice(at + 1));
  return `${image.slice(0, at)}:${wish.startsWith("v") || image[at + 1] === "v" ? "v" : ""}${text}`;
}
