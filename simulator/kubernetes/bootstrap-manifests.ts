// SPDX-License-Identifier: Apache-2.0

import { type NodeConfig, serviceIp } from "../machine/node-config.ts";
import type { Tree } from "../machine/world.ts";
import type { NewObject } from "./store.ts";

/** One of the manifests that a control plane renders from its config: its id, and its objects in order. */
export interface BootstrapManifest {
  readonly id: string;
  readonly objects: readonly NewObject[];
}

const system = "kube-system";
const flannelImage = "ghcr.io/siderolabs/flannel:v0.28.8";
const coreDnsImage = "registry.k8s.io/coredns/coredns:v1.14.6";
const certificateSigning = "system:certificates.k8s.io:certificatesigningrequests";

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

/** What a control plane applies after bootstrap, under the ids that Talos gives. */
export function bootstrapManifests(config: NodeConfig): readonly BootstrapManifest[] {
  const bootstrappers = group("system:bootstrappers:nodes");
  const [tokenId = "", tokenSecret = ""] = config.bootstrapToken.split(".");
  const manifests: readonly (BootstrapManifest | false)[] = [
    { id: "00-kubelet-bootstrapping-token", objects: [bootstrapToken(tokenId, tokenSecret)] },
    {
      id: "01-csr-approver-role-binding",
      objects: [binding("system-bootstrap-approve-node-client-csr", `${certificateSigning}:nodeclient`, bootstrappers)],
    },
    {
      id: "01-csr-node-bootstrap",
      objects: [binding("system-bootstrap-node-bootstrapper", "system:node-bootstrapper", bootstrappers)],
    },
    {
      id: "01-csr-renewal-role-binding",
      objects: [
        binding("system-bootstrap-node-renewal", `${certificateSigning}:selfnodeclient`, group("system:nodes")),
      ],
    },
    config.cniName === "flannel" && { id: "05-flannel", objects: flannel(config) },
    config.proxyEnabled && { id: "10-kube-proxy", objects: proxy(config) },
    config.coreDnsEnabled && { id: "11-core-dns", objects: coreDns(config) },
    config.coreDnsEnabled && { id: "11-core-dns-svc", objects: [dnsService(config)] },
    { id: "11-kube-config-in-cluster", objects: [inClusterKubeconfig()] },
    {
      id: "11-talos-node-rbac-template",
      objects: [
        binding("system:talos-nodes", "system:talos-nodes", group("system:nodes")),
        role("system:talos-nodes", [{ apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch"] }]),
      ],
    },
  ];
  return manifests.filter((manifest): manifest is BootstrapManifest => manifest !== false);
}

function bootstrapToken(id: string, secret: string): NewObject {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: `bootstrap-token-${id}`, namespace: system },
    type: "bootstrap.kubernetes.io/token",
    stringData: {
      "token-id": id,
      "token-secret": secret,
      "usage-bootstrap-authentication": "true",
      "auth-extra-groups": "system:bootstrappers:nodes",
    },
  };
}

function flannel({ podSubnets }: NodeConfig): readonly NewObject[] {
  const labels = { "k8s-app": "flannel", tier: "node" };
  const rules = [
    { apiGroups: [""], resources: ["pods"], verbs: ["get"] },
    { apiGroups: [""], resources: ["nodes"], verbs: ["list", "watch"] },
    { apiGroups: [""], resources: ["nodes/status"], verbs: ["patch"] },
  ];
  const network = { Network: podSubnets[0], Backend: { Type: "vxlan", Port: 4789 } };
  return [
    role("flannel", rules),
    binding("flannel", "flannel", account("flannel")),
    serviceAccount("flannel"),
    configMap("kube-flannel-cfg", { "net-conf.json": JSON.stringify(network) }),
    daemonSet("kube-flannel", labels, "flannel", {
      containers: [{ name: "kube-flannel", image: flannelImage, args: ["--ip-masq", "--kube-subnet-mgr"] }],
      volumes: [{ name: "cni", hostPath: { path: "/etc/cni/net.d" } }],
    }),
  ];
}

function proxy({ images, podSubnets }: NodeConfig): readonly NewObject[] {
  const command = ["/usr/local/bin/kube-proxy", `--cluster-cidr=${podSubnets.join(",")}`, "--proxy-mode=nftables"];
  return [
    daemonSet("kube-proxy", { "k8s-app": "kube-proxy", tier: "node" }, "kube-proxy", {
      containers: [{ name: "kube-proxy", image: images.proxy, command }],
    }),
    serviceAccount("kube-proxy"),
    binding("kube-proxy", "system:node-proxier", account("kube-proxy")),
  ];
}

function coreDns({ dnsDomain }: NodeConfig): readonly NewObject[] {
  const labels = { "k8s-app": "kube-dns" };
  const resources = ["endpoints", "services", "pods", "namespaces"];
  const spec = {
    containers: [{ name: "coredns", image: coreDnsImage, args: ["-conf", "/etc/coredns/Corefile"] }],
    serviceAccountName: "coredns",
    tolerations: ["node-role.kubernetes.io/control-plane", "node.cloudprovider.kubernetes.io/uninitialized"].map(
      (key) => ({ key, operator: "Exists", effect: "NoSchedule" }),
    ),
  };
  return [
    serviceAccount("coredns"),
    role("system:coredns", [{ apiGroups: [""], resources, verbs: ["list", "watch"] }]),
    binding("system:coredns", "system:coredns", account("coredns")),
    configMap("coredns", { Corefile: `.:53 {\n    kubernetes ${dnsDomain} in-addr.arpa ip6.arpa\n    cache 30\n}\n` }),
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "coredns", namespace: system, labels: { ...labels, "kubernetes.io/name": "CoreDNS" } },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } },
        template: { metadata: { labels }, spec },
      },
    },
  ];
}

function dnsService({ serviceSubnets }: NodeConfig): NewObject {
  const clusterIP = serviceIp(serviceSubnets[0], 10);
  const port = (name: string, number: number, protocol: string): object => ({ name, port: number, protocol });
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "kube-dns", namespace: system, labels: { "k8s-app": "kube-dns" } },
    spec: {
      clusterIP,
      clusterIPs: [clusterIP],
      selector: { "k8s-app": "kube-dns" },
      ports: [port("dns", 53, "UDP"), port("dns-tcp", 53, "TCP"), port("metrics", 9153, "TCP")],
    },
  };
}

function inClusterKubeconfig(): NewObject {
  const kubeconfig = [
    "apiVersion: v1",
    "kind: Config",
    "clusters: [{name: local, cluster: {server: https://127.0.0.1:7445}}]",
    "current-context: local",
  ];
  return configMap("kubeconfig-in-cluster", { kubeconfig: `${kubeconfig.join("\n")}\n` });
}

function serviceAccount(name: string): NewObject {
  return { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: system } };
}

function configMap(name: string, data: Readonly<Record<string, string>>): NewObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: system }, data };
}

function role(name: string, rules: readonly unknown[]): NewObject {
  return { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name }, rules };
}

function binding(name: string, roleName: string, subject: unknown): NewObject {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: roleName },
    subjects: [subject],
  };
}

function group(name: string): unknown {
  return { kind: "Group", name, apiGroup: "rbac.authorization.k8s.io" };
}

function account(name: string): unknown {
  return { kind: "ServiceAccount", name, namespace: system };
}

function daemonSet(
  name: string,
  labels: Readonly<Record<string, string>>,
  serviceAccountName: string,
  pod: Tree,
): NewObject {
  const spec = { ...pod, hostNetwork: true, serviceAccountName, tolerations: [{ operator: "Exists" }] };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name, namespace: system, labels },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec },
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } },
    },
  };
}
