// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import type { Machines } from "../../engine/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { World } from "./world.ts";
import { worldKubernetes } from "./world-kubernetes.ts";

/** The machines of a world, as the engine reaches them. */
export function worldMachines(world: World): Machines {
  const { durations } = world;
  const record = (what: string) => world.log.push(what);
  return {
    kubernetes: worldKubernetes(world),
    inspect: async (target) => world.state(target.name),
    async install(target, config) {
      const machine = world.machine(target.name);
      if (!world.up(machine)) throw new TalosError("unavailable", `${target.name}: connection refused`);
      if (machine.config !== undefined)
        throw new TalosError("permission-denied", `${target.name}: wants a certificate`);
      record(`install ${target.name}`);
      machine.config = config.text;
      world.goDown(machine, durations.boot);
      return { warnings: [] };
    },
    async changeConfig(target, config, effect) {
      const machine = world.configured(target);
      record(`config ${target.name} ${effect}`);
      machine.config = config.text;
      if (effect === "reboot") world.goDown(machine, durations.boot);
      return effect;
    },
    async writeMeta(target, key, value) {
      const machine = world.configured(target);
      record(`meta ${target.name} ${key}`);
      machine.meta = { ...machine.meta, [key]: value };
    },
    async bootstrap(target) {
      world.settle();
      const machine = world.configured(target);
      if (machine.member !== undefined) throw new TalosError("already-exists", "etcd data directory is not empty");
      if (world.now < machine.upSince + 500)
        throw new TalosError("failed-precondition", "bootstrap is not available yet");
      record(`bootstrap ${target.name}`);
      world.bootstraps++;
      if ([...world.machines.values()].some(({ etcdCluster }) => etcdCluster !== undefined)) {
        world.violations.push(`${target.name} started a second etcd`);
      }
      machine.etcdCluster = world.bootstraps;
      machine.member = { id: world.newId(), learnerUntil: world.now, joinedAt: world.now };
    },
    async forfeitLeadership(target) {
      world.configured(target);
      record(`forfeit ${target.name}`);
      world.stoodDown = target.name;
    },
    async leaveEtcd(target) {
      const machine = world.configured(target);
      if (!world.hasQuorum()) throw new TalosError("unavailable", "etcdserver: no leader");
      record(`leave ${target.name}`);
      const before = world.hasQuorum();
      machine.member = undefined;
      machine.etcdCluster = undefined;
      machine.left = true;
      if (before && !world.hasQuorum()) world.violations.push(`quorum lost when ${target.name} left`);
    },
    async removeEtcdMember(via, memberId) {
      world.configured(via);
      if (!world.hasQuorum()) throw new TalosError("unavailable", "etcdserver: no leader");
      record(`remove member ${memberId}`);
      if (!world.ghosts.some(({ id }) => id === memberId)) {
        const alive = [...world.machines.values()].find(({ member }) => member?.id === memberId);
        if (alive === undefined) throw new TalosError("not-found", "no such member");
        alive.member = undefined;
        alive.etcdCluster = undefined;
      }
      world.ghosts = world.ghosts.filter(({ id }) => id !== memberId);
    },
    async reset(target, { graceful }) {
      const machine = world.configured(target);
      record(`reset ${target.name}${graceful ? " gracefully" : ""}`);
      if (machine.member !== undefined && !world.destroying) {
        world.violations.push(`${target.name} was wiped without leaving etcd`);
      }
      machine.member = undefined;
      machine.etcdCluster = undefined;
      machine.config = undefined;
      machine.meta = {};
      machine.left = false;
      world.goDown(machine, durations.wipe);
    },
    async wipeData(target) {
      const machine = world.configured(target);
      record(`wipe data of ${target.name}`);
      machine.member = undefined;
      machine.etcdCluster = undefined;
      machine.node = undefined;
      world.goDown(machine, durations.boot);
    },
    async restore(target, snapshot) {
      const machine = world.configured(target);
      if (machine.member !== undefined) throw new TalosError("already-exists", "etcd data directory is not empty");
      const chunks: Uint8Array[] = [];
      for await (const chunk of snapshot) chunks.push(chunk);
      record(`restore ${target.name} ${Buffer.concat(chunks).toString("latin1", 0, 12)}`);
      world.bootstraps++;
      if ([...world.machines.values()].some(({ etcdCluster }) => etcdCluster !== undefined)) {
        world.violations.push(`${target.name} started a second etcd`);
      }
      world.ghosts = [];
      machine.etcdCluster = world.bootstraps;
      machine.member = { id: world.newId(), learnerUntil: world.now, joinedAt: world.now };
    },
    async pullImage(target, { image }) {
      world.configured(target);
      if (world.missingImages.has(image)) throw new TalosError("not-found", `${target.name}: no such image ${image}`);
      record(`pull ${target.name} ${image.slice(image.lastIndexOf("/") + 1)}`);
    },
    async rollback(target) {
      const machine = world.configured(target);
      record(`rollback ${target.name}`);
      Object.assign(machine, machine.previous);
      world.goDown(machine, durations.boot);
    },
    async reboot(target) {
      const machine = world.configured(target);
      record(`reboot ${target.name}`);
      world.goDown(machine, durations.boot);
    },
    async shutdown(target) {
      const machine = world.configured(target);
      record(`shutdown ${target.name}`);
      world.goDown(machine, Number.POSITIVE_INFINITY);
    },
    clockOffset: async (target) => world.clocks.get(target.name) ?? 0,
    async bootstrapManifests(target) {
      const image = /kube-proxy:v[0-9.]+/.exec(world.configured(target).config ?? "")?.[0];
      const metadata = { name: "kube-proxy", namespace: "kube-system" };
      return image === undefined ? [] : [{ apiVersion: "apps/v1", kind: "DaemonSet", metadata, spec: { image } }];
    },
    async upgrade(target, image) {
      const machine = world.configured(target);
      const to = image.slice(image.lastIndexOf(":") + 1);
      record(`upgrade ${target.name} ${to}`);
      if (Number(to.split(".")[1]) < Number(machine.version.split(".")[1])) {
        world.violations.push(`${target.name} was downgraded`);
      }
      const { version, schematic } = machine;
      machine.previous = { version, schematic };
      if (!world.brokenImages.has(image)) {
        machine.version = to;
        machine.schematic = /\/([0-9a-f]{64}):/.exec(image)?.[1] ?? "";
      }
      world.goDown(machine, durations.boot);
    },
    async health(target) {
      const machine = world.configured(target);
      const state = world.state(target.name);
      const etcd = state.kind === "configured" ? state.etcd : undefined;
      const up = world.now >= machine.upSince + durations.join;
      const service = (healthy: boolean) => ({ state: healthy ? "Running" : "Preparing", healthy, message: "" });
      const pods = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];
      return {
        services: new Map([
          ["kubelet", service(up)],
          ["etcd", service(etcd?.healthy === true)],
        ]),
        memory: 4n * 1024n ** 3n,
        volumes: new Map([["EPHEMERAL", 20n * 1024n ** 3n]]),
        inContainer: false,
        diagnostics: world.diagnostics.get(target.name) ?? [],
        staticPods:
          machine.role === "worker"
            ? []
            : pods.map((name) => ({ name: `kube-system/${name}-${target.name}`, ready: etcd?.healthy === true })),
      };
    },
    async serviceErrors(target) {
      world.configured(target);
      return world.serviceErrors.get(target.name) ?? [];
    },
    async kubeconfig(target) {
      world.configured(target);
      return `kubeconfig from ${target.name}`;
    },
    close() {},
  };
}

/** Bytes that look like a snapshot: whole pages and their hash. */
export function snapshotChunks(text: string): Uint8Array[] {
  const pages = Buffer.alloc(1024);
  pages.write(text, "latin1");
  return [pages.subarray(0, 700), pages.subarray(700), createHash("sha256").update(pages).digest()];
}
