// SPDX-License-Identifier: Apache-2.0

/** Who may open connections to a port of a group of machines. */
export type Peer = "controlPlane" | "worker" | "loadBalancer";

export interface PortRule {
  readonly name: string;
  readonly description: string;
  readonly protocol: "tcp" | "udp" | "icmp";
  /** First and last port; for ICMP, type and code. */
  readonly ports: readonly [number, number];
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

const overlay = (name: string, description: string, protocol: "tcp" | "udp", port: number): PortRule => ({
  name,
  description,
  protocol,
  ports: [port, port],
  to: everyNode,
  from: everyNode,
});

/** What the pod network needs. Without flannel it is not known which one comes, so the usual ones are let through. */
export function podNetworkPorts(cni: "flannel" | "other"): readonly PortRule[] {
  if (cni === "flannel") return [overlay("flannel", "flannel VXLAN", "udp", 4789)];
  return [
    overlay("vxlan", "pod network VXLAN", "udp", 8472),
    overlay("geneve", "pod network Geneve", "udp", 6081),
    overlay("vxlan-iana", "pod network VXLAN", "udp", 4789),
    overlay("cni-health", "pod network health", "tcp", 4240),
    overlay("bgp", "pod network BGP", "tcp", 179),
    {
      name: "icmp",
      description: "pod network health",
      protocol: "icmp",
      ports: [8, 0],
      to: everyNode,
      from: everyNode,
    },
  ];
}

export const kubespanPorts: readonly PortRule[] = [overlay("kubespan", "KubeSpan WireGuard", "udp", 51820)];

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
