// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import type { Machine } from "../machine/world.ts";
import { type Item, only, type Producer, type View } from "./item.ts";

/** A locally administered address that is always the same for the same machine. */
function macOf(machine: Machine): string {
  const bytes = createHash("sha256").update(`mac/${machine.id}`).digest().subarray(0, 6);
  bytes.writeUInt8((bytes.readUInt8(0) & 0xfc) | 0x02, 0);
  return (bytes.toString("hex").match(/../g) ?? []).join(":");
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

function route(way: { dst: string; src: string; gateway: string }, scope: string, protocol: string): Item {
  const base = { family: "inet4", outLinkIndex: 2, outLinkName: "eth0", table: "main", flags: "" };
  const spec = { ...base, ...way, priority: 1024, scope, type: "unicast", protocol };
  return { id: `inet4/${way.gateway}/${way.dst}/1024`, spec };
}

function nodeAddress(id: string, addresses: readonly string[]): Item {
  return { id, spec: { addresses, sortAlgorithm: "v1" } };
}

export const networkResources: Readonly<Record<string, Producer>> = {
  "AddressStatuses.net.talos.dev": (view) => {
    const virtual = virtualIpOf(view);
    const items = [addressItem("eth0", 2, `${view.machine.address}/24`, "global")];
    if (virtual !== undefined) items.push(addressItem("eth0", 2, `${virtual}/32`, "global"));
    items.push(addressItem("lo", 1, "127.0.0.1/8", "host"), addressItem("lo", 1, "169.254.116.108/32", "host"));
    return items;
  },
  "NodeAddresses.net.talos.dev": (view) => {
    const own = `${view.machine.address}/24`;
    const virtual = virtualIpOf(view);
    const current = virtual === undefined ? [own] : [own, `${virtual}/32`];
    const sorts = Object.entries({ accumulative: current, current, routed: [own] });
    const plain = [nodeAddress("default", [own]), ...sorts.map(([id, addresses]) => nodeAddress(id, addresses))];
    const filtered = sorts.flatMap(([id, addresses]) => [
      nodeAddress(`${id}-no-k8s`, addresses),
      nodeAddress(`${id}-only-k8s`, []),
    ]);
    return view.config === undefined ? plain : [...plain, ...filtered];
  },
  "HostnameStatuses.net.talos.dev": only("hostname", ({ hostname }) => ({ hostname, domainname: "" })),
  "NetworkStatuses.net.talos.dev": only("status", () => ({
    addressReady: true,
    connectivityReady: true,
    hostnameReady: true,
    etcFilesReady: true,
  })),
  "LinkStatuses.net.talos.dev": ({ machine }) => [
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
  "RouteStatuses.net.talos.dev": ({ machine: { address } }) => {
    const network = address.split(".").slice(0, 3).join(".");
    return [
      route({ dst: "", src: "", gateway: `${network}.1` }, "global", "dhcp"),
      route({ dst: `${network}.0/24`, src: address, gateway: "" }, "link", "kernel"),
    ];
  },
  "ResolverStatuses.net.talos.dev": () => [
    { id: "resolvers", spec: { dnsServers: ["1.1.1.1", "8.8.8.8"], searchDomains: [] } },
  ],
  "TimeServerStatuses.net.talos.dev": () => [{ id: "timeservers", spec: { timeServers: ["time.cloudflare.com"] } }],
  "HostDNSConfigs.net.talos.dev": only("config", ({ config }) => ({
    enabled: config !== undefined,
    listenAddresses: config === undefined ? [] : ["127.0.0.53:53", "169.254.116.108:53"],
  })),
  "OperatorSpecs.net.talos.dev": ({ config }) => {
    const link = { linkName: "eth0", requireUp: true };
    const dhcp = { operator: "dhcp4", ...link, dhcp4: { routeMetric: 1024 }, layer: "default" };
    if (config?.virtualIp === undefined || config.type !== "controlplane") return [{ id: "dhcp4/eth0", spec: dhcp }];
    const vip = { ip: config.virtualIp, gratuitousARP: true };
    return [
      { id: "dhcp4/eth0", spec: dhcp },
      { id: "vip/eth0", spec: { operator: "vip", ...link, vip, layer: "configuration" } },
    ];
  },
};
