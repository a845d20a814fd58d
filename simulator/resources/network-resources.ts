// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import type { Machine } from "../machine/world.ts";
import { type Item, only, type Source, type View } from "./item.ts";

/** A locally administered address that is always the same for the same machine. */
function macOf(machine: Machine): string {
  const bytes = createHash("sha256").update(`mac/${machine.id}`).digest().subarray(0, 6);
  bytes.writeUInt8((bytes.readUInt8(0) & 0xfc) | 0x02, 0);
  return (bytes.toString("hex").match(/../g) ?? []).join(":");
}

function networkOf(address: string): string {
  return `${address.split(".").slice(0, 3).join(".")}.0/24`;
}

/** The shared address, on the control plane that holds it. */
function virtualIpOf({ cluster, machine, now }: View): string | undefined {
  const held = cluster?.virtualIp;
  return held?.owner === machine.id && held.at <= now ? held.address : undefined;
}

function addressItem(link: string, index: number, address: string, scope: string): Item {
  const spec = { address, linkIndex: index, linkName: link, family: "inet4", scope, flags: "permanent", priority: 0 };
  return { id: `${link}/${address}`, spec };
}

function nodeAddress(id: string, addresses: readonly string[]): Item {
  return { id, spec: { addresses, sortAlgorithm: "v1" } };
}

export const networkResources: Readonly<Record<string, Source>> = {
  "AddressStatuses.net.talos.dev": {
    owner: "network.AddressStatusController",
    items: (view) => {
      const virtual = virtualIpOf(view);
      const items = [addressItem("eth0", 2, `${view.machine.address}/24`, "global")];
      if (virtual !== undefined) items.push(addressItem("eth0", 2, `${virtual}/32`, "global"));
      items.push(addressItem("lo", 1, "127.0.0.1/8", "host"), addressItem("lo", 1, "169.254.116.108/32", "host"));
      return items;
    },
  },
  "NodeAddresses.net.talos.dev": {
    owner: "network.NodeAddressController",
    items: (view) => {
      const own = `${view.machine.address}/24`;
      const virtual = virtualIpOf(view);
      const current = virtual === undefined ? [own] : [own, `${virtual}/32`];
      const plain = [
        nodeAddress("accumulative", current),
        nodeAddress("current", current),
        nodeAddress("default", [own]),
        nodeAddress("routed", [own]),
      ];
      if (view.config === undefined) return plain;
      return [
        ...plain,
        ...["accumulative", "current"].flatMap((id) => [
          nodeAddress(`${id}-no-k8s`, current),
          nodeAddress(`${id}-only-k8s`, []),
        ]),
        nodeAddress("routed-no-k8s", [own]),
        nodeAddress("routed-only-k8s", []),
      ];
    },
  },
  "HostnameStatuses.net.talos.dev": {
    owner: "network.HostnameSpecController",
    items: ({ hostname }) => [{ id: "hostname", spec: { hostname, domainname: "" } }],
  },
  "NetworkStatuses.net.talos.dev": {
    owner: "network.StatusController",
    items: only("status", () => ({
      addressReady: true,
      connectivityReady: true,
      hostnameReady: true,
      etcFilesReady: true,
    })),
  },
  "LinkStatuses.net.talos.dev": {
    owner: "network.LinkStatusController",
    items: ({ machine }) => [
      {
        id: "eth0",
        spec: {
          index: 2,
          type: "ether",
          linkIndex: 0,
          flags: "UP,BROADCAST,RUNNING,MULTICAST,LOWER_UP",
          hardwareAddr: macOf(machine),
          permanentAddr: macOf(machine),
          broadcastAddr: "ff:ff:ff:ff:ff:ff",
          mtu: 1500,
          queueDisc: "pfifo_fast",
          operationalState: "up",
          kind: "",
          slaveKind: "",
          busPath: "0000:01:00.0",
          driver: "virtio_net",
          driverVersion: "1.0.0",
          linkState: true,
          speedMbit: 10000,
          port: "Other",
          duplex: "Unknown",
        },
      },
      {
        id: "lo",
        spec: {
          index: 1,
          type: "loopback",
          linkIndex: 0,
          flags: "UP,LOOPBACK,RUNNING,LOWER_UP",
          hardwareAddr: "00:00:00:00:00:00",
          permanentAddr: "",
          broadcastAddr: "00:00:00:00:00:00",
          mtu: 65536,
          queueDisc: "noqueue",
          operationalState: "unknown",
          kind: "",
          slaveKind: "",
          linkState: true,
          port: "Other",
          duplex: "Unknown",
        },
      },
    ],
  },
  "RouteStatuses.net.talos.dev": {
    owner: "network.RouteStatusController",
    items: ({ machine }) => {
      const base = { family: "inet4", outLinkIndex: 2, outLinkName: "eth0", table: "main", flags: "" };
      const subnet = networkOf(machine.address);
      const gateway = `${machine.address.split(".").slice(0, 3).join(".")}.1`;
      return [
        {
          id: `inet4/${gateway}//1024`,
          spec: {
            ...base,
            dst: "",
            src: "",
            gateway,
            priority: 1024,
            scope: "global",
            type: "unicast",
            protocol: "dhcp",
          },
        },
        {
          id: `inet4//${subnet}/1024`,
          spec: {
            ...base,
            dst: subnet,
            src: machine.address,
            gateway: "",
            priority: 1024,
            scope: "link",
            type: "unicast",
            protocol: "kernel",
          },
        },
      ];
    },
  },
  "ResolverStatuses.net.talos.dev": {
    owner: "network.ResolverSpecController",
    items: () => [{ id: "resolvers", spec: { dnsServers: ["1.1.1.1", "8.8.8.8"], searchDomains: [] } }],
  },
  "TimeServerStatuses.net.talos.dev": {
    owner: "network.TimeServerSpecController",
    items: () => [{ id: "timeservers", spec: { timeServers: ["time.cloudflare.com"] } }],
  },
  "HostDNSConfigs.net.talos.dev": {
    owner: "network.HostDNSConfigController",
    items: only("config", ({ config }) => ({
      enabled: config !== undefined,
      listenAddresses: config === undefined ? [] : ["127.0.0.53:53", "169.254.116.108:53"],
    })),
  },
  "OperatorSpecs.net.talos.dev": {
    owner: "network.OperatorMergeController",
    items: ({ config }) => {
      const link = { linkName: "eth0", requireUp: true };
      const dhcp = { operator: "dhcp4", ...link, dhcp4: { routeMetric: 1024 }, layer: "default" };
      if (config?.virtualIp === undefined || config.type !== "controlplane") return [{ id: "dhcp4/eth0", spec: dhcp }];
      const vip = { ip: config.virtualIp, gratuitousARP: true };
      return [
        { id: "dhcp4/eth0", spec: dhcp },
        { id: "vip/eth0", spec: { operator: "vip", ...link, vip, layer: "configuration" } },
      ];
    },
  },
};
