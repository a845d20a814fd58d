// SPDX-License-Identifier: Apache-2.0
import { etcdVersionOf, minorOf } from "../machine/release.ts";
import type { Source, View } from "./item.ts";

function imageOf({ machine }: View): string {
  const registry = minorOf(machine.talosVersion) >= 1_012 ? "registry.k8s.io/etcd" : "gcr.io/etcd-development/etcd";
  return `${registry}:v${etcdVersionOf(machine.talosVersion)}`;
}

export const etcdResources: Readonly<Record<string, Source>> = {
  "EtcdConfigs.etcd.talos.dev": {
    owner: "etcd.ConfigController",
    items: (view) =>
      view.config?.type !== "controlplane"
        ? []
        : [
            {
              id: "etcd",
              spec: { advertiseExcludeSubnets: [], listenExcludeSubnets: [], image: imageOf(view), extraArgs: {} },
            },
          ],
  },
  "EtcdSpecs.etcd.talos.dev": {
    owner: "etcd.SpecController",
    items: (view) =>
      view.config?.type !== "controlplane"
        ? []
        : [
            {
              id: "etcd",
              spec: {
                name: view.hostname,
                advertisedAddresses: [view.machine.address],
                listenPeerAddresses: ["0.0.0.0"],
                listenClientAddresses: ["0.0.0.0"],
                image: imageOf(view),
                extraArgs: {},
              },
            },
          ],
  },
  "EtcdMembers.etcd.talos.dev": {
    owner: "etcd.MemberController",
    items: ({ machine }) => {
      const running = machine.services.etcd?.health === "healthy";
      const id = machine.disk.etcd?.memberId;
      return running && id !== undefined ? [{ id: "local", spec: { memberID: id } }] : [];
    },
  },
  "PKIStatuses.etcd.talos.dev": {
    owner: "etcd.PKIController",
    items: ({ config }) =>
      config?.type === "controlplane" ? [{ id: "etcd", spec: { ready: true, version: "1" } }] : [],
  },
};
