// SPDX-License-Identifier: Apache-2.0
import type { ClusterSection } from "../schema/index.ts";

type Firewall = NonNullable<ClusterSection["firewall"]>;

interface Opening {
  readonly name: string;
  readonly ports: readonly (number | string)[];
  readonly protocol: "tcp" | "udp";
  readonly from: readonly string[];
  readonly on: "all" | "controlPlane" | "worker";
}

export interface FirewallDocuments {
  readonly all: readonly object[];
  readonly controlPlane: readonly object[];
  readonly worker: readonly object[];
}

/** Talos's ingress firewall: everything is blocked but what Talos and Kubernetes need, and what the file opens. */
export function firewallDocuments({ nodes, admins, rules }: Firewall, kubespan: boolean): FirewallDocuments {
  const both = [...new Set([...nodes, ...admins])];
  const own: readonly Opening[] = [
    { name: "apid", ports: [50000], protocol: "tcp", from: both, on: "all" },
    { name: "kubelet", ports: [10250], protocol: "tcp", from: nodes, on: "all" },
    // 4789 is Talos's flannel, 8472 what most others take.
    { name: "vxlan", ports: [4789, 8472], protocol: "udp", from: nodes, on: "all" },
    { name: "trustd", ports: [50001], protocol: "tcp", from: nodes, on: "controlPlane" },
    { name: "kubernetes-api", ports: [6443], protocol: "tcp", from: both, on: "controlPlane" },
    { name: "etcd", ports: ["2379-2380"], protocol: "tcp", from: nodes, on: "controlPlane" },
    // Its peers prove themselves by key, and may come from anywhere.
    ...(kubespan
      ? [{ name: "kubespan", ports: [51820], protocol: "udp", from: ["0.0.0.0/0", "::/0"], on: "all" } as const]
      : []),
  ];
  const openings = [...own, ...rules];
  const documents = (on: Opening["on"]) => openings.filter((opening) => opening.on === on).map(ruleDocument);
  return {
    all: [{ apiVersion: "v1alpha1", kind: "NetworkDefaultActionConfig", ingress: "block" }, ...documents("all")],
    controlPlane: documents("controlPlane"),
    worker: documents("worker"),
  };
}

/** The names of the rules that are always there. */
export const ownRuleNames: readonly string[] = [
  "apid",
  "kubelet",
  "vxlan",
  "trustd",
  "kubernetes-api",
  "etcd",
  "kubespan",
];

function ruleDocument({ name, ports, protocol, from }: Opening): object {
  const ingress = from.map((subnet) => ({ subnet }));
  return { apiVersion: "v1alpha1", kind: "NetworkRuleConfig", name, portSelector: { ports, protocol }, ingress };
}
