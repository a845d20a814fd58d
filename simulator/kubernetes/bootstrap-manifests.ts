// SPDX-License-Identifier: Apache-2.0
import type { NodeConfig } from "../machine/node-config.ts";
import type { NewObject } from "./store.ts";

/** One of the manifests that a control plane renders from its config: its id, and its objects in order. */
export interface BootstrapManifest {
  readonly id: string;
  readonly objects: readonly NewObject[];
}

const system = "kube-system";
const flannelImage = "ghcr.io/siderolabs/flannel:v0.28.8";
const coreDnsImage = "registry.k8s.io/coredns/coredns:v1.14.6";

/** The namespaces that every API server makes for itself. */
export const systemNamespaces: readonly NewObject[] = ["default", "kube-node-lease", "kube-public", system].map(
  (name) => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels: { "kubernetes.io/metadata.name": name } },
    spec: { finalizers: ["kubernetes"] },
    status: { phase: "Active" },
  }),
);

/** What a control plane applies after bootstrap, under the ids that Talos gives: flannel, kube-proxy, CoreDNS. */
export function bootstrapManifests(config: NodeConfig): readonly BootstrapManifest[] {
  const manifests: BootstrapManifest[] = [];
  if (config.cniName === "flannel") {
    const volumes = [{ name: "cni", hostPath: { path: "/etc/cni/net.d" } }];
    const labels = { "k8s-app": "flannel", tier: "node" };
    manifests.push({
      id: "05-flannel",
      objects: [serviceAccount("flannel"), daemonSet("kube-flannel", labels, flannelImage, volumes)],
    });
  }
  if (config.proxyEnabled) {
    const labels = { "k8s-app": "kube-proxy", tier: "node" };
    manifests.push({
      id: "10-kube-proxy",
      objects: [daemonSet("kube-proxy", labels, config.images.proxy), serviceAccount("kube-proxy")],
    });
  }
  if (config.coreDnsEnabled) manifests.push({ id: "11-core-dns", objects: [serviceAccount("coredns"), coreDns()] });
  return manifests;
}

function serviceAccount(name: string): NewObject {
  return { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: system } };
}

function daemonSet(
  name: string,
  labels: Readonly<Record<string, string>>,
  image: string,
  volumes: readonly unknown[] = [],
): NewObject {
  const pod = {
    containers: [{ name, image }],
    hostNetwork: true,
    tolerations: [{ operator: "Exists" }],
    ...(volumes.length === 0 ? {} : { volumes }),
  };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name, namespace: system, labels },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: pod },
      updateStrategy: { type: "RollingUpdate" },
    },
  };
}

function coreDns(): NewObject {
  const labels = { "k8s-app": "kube-dns" };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "coredns", namespace: system, labels: { ...labels, "kubernetes.io/name": "CoreDNS" } },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [{ name: "coredns", image: coreDnsImage }],
          tolerations: [
            { key: "node-role.kubernetes.io/control-plane", operator: "Exists", effect: "NoSchedule" },
            { key: "node.cloudprovider.kubernetes.io/uninitialized", operator: "Exists", effect: "NoSchedule" },
          ],
        },
      },
    },
  };
}
