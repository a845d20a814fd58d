// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { given } from "../../talos/given.ts";
import { configOf, hostnameOf, machinesOf } from "../controllers/membership.ts";
import { isUp } from "../machine/life.ts";
import type { Machine } from "../machine/world.ts";
import type { Item, Source, View } from "./item.ts";

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

export const clusterResources: Readonly<Record<string, Source>> = {
  "Members.cluster.talos.dev": {
    owner: "cluster.MemberController",
    items: (view) => announced(view).map((machine): Item => ({ id: hostnameOf(machine), spec: describe(machine) })),
  },
  "Affiliates.cluster.talos.dev": {
    owner: "cluster.AffiliateMergeController",
    items: (view) =>
      announced(view).map((machine) => ({
        id: nodeIdOf(machine),
        spec: { ...describe(machine), nodename: hostnameOf(machine) },
      })),
  },
  "Identities.cluster.talos.dev": {
    owner: "cluster.NodeIdentityController",
    items: ({ machine }) => [{ id: "local", spec: { nodeId: nodeIdOf(machine) } }],
  },
  "Infos.cluster.talos.dev": {
    owner: "cluster.InfoController",
    items: ({ config }) =>
      config === undefined
        ? []
        : [{ id: "current", spec: { clusterId: config.clusterId, clusterName: config.clusterName } }],
  },
};
