// SPDX-License-Identifier: Apache-2.0
import ipaddr from "ipaddr.js";
import { filled } from "../../given.ts";
import type { MachineConfigInput, ResolvedCluster, StaticLink } from "../cluster-config.ts";
import { document, type Section } from "./common-values.ts";

/** machine.network of contracts that know no network documents, with what newer ones still keep there. */
export function legacyNetwork(cluster: ResolvedCluster, machine: MachineConfigInput): Section | undefined {
  const { contract } = cluster;
  const kubespan =
    cluster.kubespan === undefined || contract.kubeSpanDocument ? undefined : { enabled: cluster.kubespan };
  if (contract.networkDocuments) {
    if (kubespan !== undefined) return { kubespan };
    return contract.emptyNetworkSection ? {} : undefined;
  }
  return {
    hostname: machine.hostname,
    interfaces: filled(legacyInterfaces(cluster, machine)),
    nameservers: filled(machine.nameservers ?? []),
    searchDomains: filled(machine.searchDomains ?? []),
    kubespan,
  };
}

function legacyInterfaces(cluster: ResolvedCluster, machine: MachineConfigInput): readonly Section[] {
  const virtualIp = machine.type === "controlplane" ? cluster.virtualIp : undefined;
  const vipOf = (link: string) => (virtualIp?.link === link ? { ip: virtualIp.address } : undefined);
  const interfaces: Section[] = (machine.links ?? []).map((link) => ({
    interface: link.name,
    addresses: link.addresses,
    routes: link.gateway === undefined ? undefined : [{ network: everywhere(link.gateway), gateway: link.gateway }],
    mtu: link.mtu,
    vip: vipOf(link.name),
  }));
  if (virtualIp !== undefined && !(machine.links ?? []).some((link) => link.name === virtualIp.link)) {
    interfaces.push({ interface: virtualIp.link, dhcp: true, vip: { ip: virtualIp.address } });
  }
  return interfaces;
}

function everywhere(gateway: string): string {
  return ipaddr.isValid(gateway) && ipaddr.parse(gateway).kind() === "ipv6" ? "::/0" : "0.0.0.0/0";
}

/** HostnameConfig: the given name, else a stable one made by the machine itself. */
export function hostnameDocument(machine: MachineConfigInput): Section {
  const name = machine.hostname;
  return document("HostnameConfig", name === undefined ? { auto: "stable" } : { auto: "off", hostname: name });
}

/** Links, resolvers and the virtual address of contracts that write them as documents. */
export function networkDocuments(cluster: ResolvedCluster, machine: MachineConfigInput): readonly Section[] {
  const virtualIp = machine.type === "controlplane" ? cluster.virtualIp : undefined;
  const { nameservers = [], searchDomains = [] } = machine;
  const documents = (machine.links ?? []).map(linkDocument);
  if (nameservers.length + searchDomains.length > 0 && !cluster.contract.kubernetesDocuments)
    documents.push(document("ResolverConfig", resolverFields(machine)));
  if (virtualIp !== undefined)
    documents.push(document("Layer2VIPConfig", { name: virtualIp.address, link: virtualIp.link }));
  return documents;
}

export function resolverFields(machine: MachineConfigInput): Section {
  const { nameservers = [], searchDomains = [] } = machine;
  return {
    nameservers: filled(nameservers.map((address) => ({ address }))),
    searchDomains: searchDomains.length === 0 ? undefined : { domains: searchDomains },
  };
}

function linkDocument(link: StaticLink): Section {
  return document("LinkConfig", {
    name: link.name,
    up: true,
    mtu: link.mtu,
    addresses: link.addresses.map((address) => ({ address })),
    routes: link.gateway === undefined ? undefined : [{ gateway: link.gateway }],
  });
}
