// SPDX-License-Identifier: Apache-2.0

import { createHash } from "node:crypto";
import { given } from "../../talos/given.ts";
import { configOf, hostnameOf, machinesOf } from "../controllers/membership.ts";
import { isUp } from "../machine/life.ts";
import { kubernetesCas, osCas, serviceIp } from "../machine/node-config.ts";
import { etcdImageOf } from "../machine/release.ts";
import type { Machine } from "../machine/world.ts";
import { type Item, only, onlyConfigured, onlyControlPlane, type Producer, type View } from "./item.ts";

/** The node's own identity: a stable random-looking name, as the discovery service knows it. */
function nodeIdOf(machine: Machine): string {
  return createHash("sha256").update(`node-id/${machine.id}`).digest("base64url").slice(0, 43);
}

/** The machines that announce themselves: those of the cluster that are up, as soon as discovery knows them. */
function announced({ world, config }: View): readonly Machine[] {
  if (config?.discovery !== true) return [];
  return machinesOf(world, config.clusterKey)
    .filter((machine) => isUp(machine.life))
    .sort((a, b) => (hostnameOf(a) < hostnameOf(b) ? -1 : 1));
}

function describe(machine: Machine): Readonly<Record<string, unknown>> {
  const type = configOf(machine)?.type;
  return given({
    nodeId: nodeIdOf(machine),
    addresses: [machine.address],
    hostname: hostnameOf(machine),
    machineType: type,
    operatingSystem: `Talos (${machine.talosVersion})`,
    controlPlane: type === "controlplane" ? { port: 6443 } : undefined,
  });
}

export const clusterResources: Readonly<Record<string, Producer>> = {
  "Members.cluster.talos.dev": (view) =>
    announced(view).map((machine): Item => ({ id: hostnameOf(machine), spec: describe(machine) })),
  "Affiliates.cluster.talos.dev": (view) =>
    announced(view).map((machine) => ({
      id: nodeIdOf(machine),
      spec: { ...describe(machine), nodename: hostnameOf(machine) },
    })),
  "Identities.cluster.talos.dev": only("local", ({ machine }) => ({ nodeId: nodeIdOf(machine) })),
  "Infos.cluster.talos.dev": onlyConfigured("current", ({ config: { clusterId, clusterName } }) => ({
    clusterId,
    clusterName,
  })),
};

export const etcdResources: Readonly<Record<string, Producer>> = {
  "EtcdConfigs.etcd.talos.dev": onlyControlPlane("etcd", (view) => ({
    advertiseExcludeSubnets: [],
    listenExcludeSubnets: [],
    image: etcdImageOf(view.machine.talosVersion),
    extraArgs: {},
  })),
  "EtcdSpecs.etcd.talos.dev": onlyControlPlane("etcd", (view) => ({
    name: view.hostname,
    advertisedAddresses: [view.machine.address],
    listenPeerAddresses: ["0.0.0.0"],
    listenClientAddresses: ["0.0.0.0"],
    image: etcdImageOf(view.machine.talosVersion),
    extraArgs: {},
  })),
  "EtcdMembers.etcd.talos.dev": ({ machine }) => {
    const running = machine.services.etcd?.health === "healthy";
    const id = machine.disk.etcd?.memberId;
    return running && id !== undefined ? [{ id: "local", spec: { memberID: id } }] : [];
  },
  "PKIStatuses.etcd.talos.dev": onlyControlPlane("etcd", () => ({ ready: true, version: "1" })),
};

/** What may be shown of a machine's secrets: certificates and the names in them. Keys are not served by the simulator. */
export const secretResources: Readonly<Record<string, Producer>> = {
  "OSRootSecrets.secrets.talos.dev": onlyConfigured("os", ({ config }) => ({
    ...authorities(osCas(config)),
    certSANIPs: [],
    certSANDNSNames: config.certSans,
  })),
  "KubernetesRootSecrets.secrets.talos.dev": onlyControlPlane("k8s", ({ config }) => ({
    name: config.clusterName,
    dnsDomain: config.dnsDomain,
    ...authorities(kubernetesCas(config)),
  })),
  "CertSANs.secrets.talos.dev": ({ machine, config, hostname }) => {
    const addresses = [machine.address, "127.0.0.1"];
    const maintenance = {
      id: "maintenance",
      spec: { ips: [...addresses, "::1"], dnsNames: [hostname], fqdn: "maintenance-service.talos.dev" },
    };
    if (config === undefined) return [maintenance];
    const named = config.certSans.filter((name) => !/^[\d.]+$|:/.test(name));
    const numeric = config.certSans.filter((name) => /^[\d.]+$|:/.test(name));
    const api = {
      id: "api",
      spec: { ips: [...numeric, ...addresses], dnsNames: [...named, hostname], fqdn: hostname },
    };
    if (config.type !== "controlplane") return [api, maintenance];
    const service = serviceIp(config.serviceSubnets[0], 1);
    const names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc"];
    const kubernetes = {
      id: "k8s",
      spec: {
        ips: [machine.address, service, "127.0.0.1"],
        dnsNames: [hostname, ...names, `kubernetes.default.svc.${config.dnsDomain}`, "localhost"],
        fqdn: "",
      },
    };
    return [api, kubernetes, maintenance];
  },
};

/** The CA that issues, which is the first, and all that are accepted. */
function authorities(accepted: readonly string[]) {
  const certificates = accepted.map((crt) => ({ crt }));
  return { issuingCA: { ...certificates[0], key: "" }, acceptedCAs: certificates };
}
