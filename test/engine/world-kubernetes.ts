// SPDX-License-Identifier: Apache-2.0
import type { Kubernetes } from "../../engine/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { World } from "./world.ts";

/** The Kubernetes API of a world. */
export function worldKubernetes(world: World): Kubernetes {
  const record = (what: string) => world.log.push(what);
  return {
    async observe() {
      world.settle();
      if (!world.hasQuorum()) return { kind: "unreachable", reason: "connection refused" };
      world.proxyVersion ??= world.wantedProxy();
      const { proxyVersion } = world;
      return { kind: "reachable", nodes: world.nodes(), ...(proxyVersion === undefined ? {} : { proxyVersion }) };
    },
    async observeNode(name) {
      world.settle();
      if (!world.hasQuorum()) return { kind: "unreachable", reason: "connection refused" };
      return { kind: "reachable", node: world.node(name) };
    },
    endpointObstacle: async () =>
      world.hasQuorum() ? undefined : { reason: "connection refused", certificate: false },
    async drain(name, how) {
      const { node } = world.machine(name);
      if (!world.hasQuorum()) throw new TalosError("unavailable", "kubernetes: connection refused");
      if (node === undefined) return undefined;
      record(`drain ${name}`);
      if (!node.unschedulable) {
        node.unschedulable = true;
        node.ours = true;
      }
      if (world.stubborn.has(name) && how === "evict") return `a disruption budget keeps pod default/${name}`;
      const machine = world.machine(name);
      machine.pods = Math.max(0, machine.pods - 1);
      return machine.pods === 0 ? undefined : `waiting for ${machine.pods} pods to terminate`;
    },
    async setSchedulable(name, schedulable) {
      const { node } = world.machine(name);
      if (!world.hasQuorum()) throw new TalosError("unavailable", "kubernetes: connection refused");
      if (node === undefined) throw new TalosError("not-found", `no node ${name}`);
      record(`${schedulable ? "uncordon" : "cordon"} ${name} for a person`);
      Object.assign(node, { unschedulable: !schedulable, ours: false });
    },
    async uncordon(name) {
      const { node } = world.machine(name);
      if (!world.hasQuorum()) throw new TalosError("unavailable", "kubernetes: connection refused");
      record(`uncordon ${name}`);
      if (node?.ours) {
        node.unschedulable = false;
        node.ours = false;
      }
    },
    async component(component, name) {
      if (!world.hasQuorum()) throw new TalosError("unavailable", "kubernetes: connection refused");
      const config = world.machine(name).config ?? "";
      const version = new RegExp(`${component}:v([0-9.]+)`).exec(config)?.[1];
      return version === undefined
        ? undefined
        : { version, ready: !world.sickComponents.has(`${component} ${version}`) };
    },
    workload: async (kind) => (kind === "daemonsets" ? { wanted: 1, updated: 1, ready: 1 } : undefined),
    rootCas: async () => world.rootCas || publishedCas(world),
    async restartWorkload({ name }, mark) {
      record(`restart ${name} for ${mark}`);
    },
    clientPods: async () => world.clientPods,
    proxyFaults: async () => world.proxyFaults,
    apisGoneWith: async () => [],
    async syncManifests(objects) {
      if (!world.hasQuorum()) throw new TalosError("unavailable", "kubernetes: connection refused");
      record("sync manifests");
      world.proxyVersion = /kube-proxy:v([0-9.]+)/.exec(JSON.stringify(objects))?.[1];
      return [];
    },
    async takeLease(holder) {
      if (!world.hasQuorum()) throw new TalosError("unavailable", "kubernetes: connection refused");
      const { lease } = world;
      if (lease !== undefined && lease.place !== holder.place && world.now - lease.renewed < 60_000) return lease.place;
      world.lease = { place: holder.place, renewed: world.now };
      return undefined;
    },
    readLease: async () =>
      world.lease && {
        holder: world.lease.place,
        renewed: new Date(world.lease.renewed).toISOString(),
        expired: world.now - world.lease.renewed >= 60_000,
      },
    async deleteLease() {
      world.lease = undefined;
    },
    async releaseLease(holder) {
      if (world.lease?.place === holder.place) world.lease = undefined;
    },
    async readOwnership() {
      if (!world.hasQuorum()) throw new TalosError("unavailable", "kubernetes: connection refused");
      return world.ownership;
    },
    async changeOwnership(change) {
      if (!world.hasQuorum()) throw new TalosError("unavailable", "kubernetes: connection refused");
      world.ownership = change(world.ownership);
      return world.ownership;
    },
    async deleteNode(name) {
      if (!world.hasQuorum()) throw new TalosError("unavailable", "kubernetes: connection refused");
      record(`delete node ${name}`);
      world.machine(name).node = undefined;
    },
  };
}

/** Controllers publish what the control planes accept. */
function publishedCas(world: World): string {
  const [config = ""] = [...world.machines.values()].flatMap(({ role, config: own }) =>
    role === "controlplane" ? (own ?? []) : [],
  );
  return [...config.matchAll(/crt: (\S+)/g)].map(([, text = ""]) => Buffer.from(text, "base64").toString()).join("\n");
}
