// SPDX-License-Identifier: Apache-2.0
import type { NodeConfig } from "../machine/node-config.ts";
import type { NewObject } from "./store.ts";

export interface Manifest {
  readonly resource: string;
  readonly object: NewObject;
}

/** What a control plane applies after bootstrap: namespaces, flannel, kube-proxy, CoreDNS. */
export function bootstrapObjects(config: NodeConfig): readonly Manifest[] {
  const system = "kube-system";
  const flannel = "ghcr.io/siderolabs/flannel:v0.28.8";
  return [
    ...["default", "kube-node-lease", "kube-public", system].map(namespace),
    ...(config.cniName === "flannel"
      ? [daemonSet("kube-flannel", { "k8s-app": "flannel", tier: "node" }, "kube-flannel", flannel)]
      : []),
    ...(config.proxyEnabled
      ? [daemonSet("kube-proxy", { "k8s-app": "kube-proxy", tier: "node" }, "kube-proxy", config.images.proxy)]
      : []),
    ...(config.coreDnsEnabled && config.cniName !== "none" ? [coreDns(system)] : []),
  ];
}

function namespace(name: string): Manifest {
  const labels = { "kubernetes.io/metadata.name": name };
  const object = {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels },
    spec: { finalizers: ["kubernetes"] },
    status: { phase: "Active" },
  };
  return { resource: "namespaces", object };
}

function daemonSet(name: string, labels: Readonly<Record<string, string>>, container: string, image: string): Manifest {
  const spec = {
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { containers: [{ name: container, image }], hostNetwork: true, tolerations: [{ operator: "Exists" }] },
    },
    updateStrategy: { type: "RollingUpdate" },
  };
  const object = {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name, namespace: "kube-system", labels },
    spec,
  };
  return { resource: "daemonsets.apps", object };
}

function coreDns(namespaceName: string): Manifest {
  const labels = { "k8s-app": "kube-dns" };
  const spec = {
    replicas: 2,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        containers: [{ name: "coredns", image: "registry.k8s.io/coredns/coredns:v1.14.6" }],
        tolerations: [
          { key: "node-role.kubernetes.io/control-plane", operator: "Exists", effect: "NoSchedule" },
          { key: "node.cloudprovider.kubernetes.io/uninitialized", operator: "Exists", effect: "NoSchedule" },
        ],
      },
    },
  };
  const metadata = {
    name: "coredns",
    namespace: namespaceName,
    labels: { ...labels, "kubernetes.io/name": "CoreDNS" },
  };
  return { resource: "deployments.apps", object: { apiVersion: "apps/v1", kind: "Deployment", metadata, spec } };
}
