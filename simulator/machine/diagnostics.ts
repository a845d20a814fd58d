// SPDX-License-Identifier: Apache-2.0
import { BlockList, isIPv6 } from "node:net";
import type { NodeConfig } from "./node-config.ts";
import type { Machine } from "./world.ts";

export interface Diagnostic {
  readonly id: string;
  readonly message: string;
  readonly details: readonly string[];
}

/** What the machine itself finds wrong with its settings. */
export function diagnosticsOf(machine: Machine, config: NodeConfig | undefined): readonly Diagnostic[] {
  if (config === undefined) return [];
  const overlaps = [...config.podSubnets, ...config.serviceSubnets].some((subnet) => holds(subnet, machine.address));
  if (!overlaps) return [];
  return [
    {
      id: "address-overlap",
      message: "host and Kubernetes pod/service CIDR addresses overlap",
      details: [
        `host routed addresses: ["${machine.address}/8"]`,
        `Kubernetes pod CIDRs: ${JSON.stringify(config.podSubnets)}`,
        `Kubernetes service CIDRs: ${JSON.stringify(config.serviceSubnets)}`,
      ],
    },
  ];
}

function holds(subnet: string, address: string): boolean {
  const [network = "", length = "0"] = subnet.split("/");
  const family = isIPv6(network) ? "ipv6" : "ipv4";
  const list = new BlockList();
  list.addSubnet(network, Number(length), family);
  return list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
