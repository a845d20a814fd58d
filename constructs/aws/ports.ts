// SPDX-License-Identifier: Apache-2.0
import type { PodNetwork } from "../../model/index.ts";

/** Who may open connections to a port of a group of machines. */
export type Peer = "controlPlane" | "worker" | "loadBalancer";

export interface PortRule {
  readonly name: string;
  readonly description: string;
  /** 4 is IP in IP. */
  readonly protocol: "tcp" | "udp" | "icmp" | "4";
  /** First and last port; for ICMP, type and code. @default - the protocol has none */
  readonly ports?: readonly [number, number];
  readonly to: readonly Peer[];
  readonly from: readonly Peer[];
}

export const everyNode = ["controlPlane", "worker"] as const;

/** What the machines of every cluster need of each other. Nothing else is open between them. */
export const clusterPorts: readonly PortRule[] = [
  {
    name: "kubernetes",
    description: "Kubernetes API",
    protocol: "tcp",
    ports: [6443, 6443],
    to: ["controlPlane"],
    from: [...everyNode, "loadBalancer"],
  },
  {
    name: "talos",
    description: "Talos API, passed on by control planes",
    protocol: "tcp",
    ports: [50000, 50000],
    to: everyNode,
    from: ["controlPlane"],
  },
  {
    name: "trustd",
    description: "Talos certificates",
    protocol: "tcp",
    ports: [50001, 50001],
    to: ["controlPlane"],
    from: everyNode,
  },
  {
    name: "etcd",
    description: "etcd clients and peers",
    protocol: "tcp",
    ports: [2379, 2380],
    to: ["controlPlane"],
    from: ["controlPlane"],
  },
  {
    name: "kubelet",
    description: "kubelet API and metrics",
    protocol: "tcp",
    ports: [10250, 10250],
    to: everyNode,
    from: everyNode,
  },
];

/** Port of Calico's WireGuard and of KubeSpan. */
const wireGuard = 51820;

const overlay = (name: string, description: string, protocol: "tcp" | "udp", port: number): PortRule => ({
  name,
  description,
  protocol,
  ports: [port, port],
  to: everyNode,
  from: everyNode,
});

const cilium: readonly PortRule[] = [
  overlay("vxlan", "Cilium VXLAN", "udp", 8472),
  overlay("geneve", "Cilium Geneve", "udp", 6081),
  overlay("cni-health", "Cilium health", "tcp", 4240),
  overlay("hubble", "Hubble", "tcp", 4244),
  overlay("cilium-wireguard", "Cilium WireGuard", "udp", 51871),
  { name: "icmp", description: "Cilium health", protocol: "icmp", ports: [8, 0], to: everyNode, from: everyNode },
];

const calico: readonly PortRule[] = [
  overlay("bgp", "Calico BGP", "tcp", 179),
  overlay("vxlan-iana", "Calico VXLAN", "udp", 4789),
  overlay("typha", "Calico Typha", "tcp", 5473),
  overlay("calico-wireguard", "Calico WireGuard", "udp", wireGuard),
  { name: "ipip", description: "Calico IP in IP", protocol: "4", to: everyNode, from: everyNode },
];

const podNetworkPorts: Readonly<Record<PodNetwork, readonly PortRule[]>> = {
  flannel: [overlay("flannel", "flannel VXLAN", "udp", 4789)],
  cilium,
  calico,
  // It is not known which one comes, so the usual ones are let through.
  other: [...cilium, ...calico],
};

/** What pod network and KubeSpan need. Calico and KubeSpan share a port, and AWS refuses the same rule twice. */
export function networkPorts(podNetwork: PodNetwork, kubespan: boolean): readonly PortRule[] {
  const ports = podNetworkPorts[podNetwork];
  const isOpen = ports.some((rule) => rule.protocol === "udp" && rule.ports?.[0] === wireGuard);
  return kubespan && !isOpen ? [...ports, overlay("kubespan", "KubeSpan WireGuard", "udp", wireGuard)] : ports;
}

/** With the Talos API behind the load balancer too. */
export const talosFromLoadBalancer: PortRule = {
  name: "talos",
  description: "Talos API",
  protocol: "tcp",
  ports: [50000, 50000],
  to: ["controlPlane"],
  from: ["loadBalancer"],
};

/** With a load balancer inside the network, which machines reach from their own addresses. */
export const kubernetesThroughLoadBalancer: PortRule = {
  name: "kubernetes",
  description: "Kubernetes API",
  protocol: "tcp",
  ports: [6443, 6443],
  to: ["loadBalancer"],
  from: everyNode,
};
