// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import type {
  EtcdMember,
  Kubernetes,
  KubernetesNode,
  MachineState,
  Machines,
  MachineTarget,
  Timing,
} from "../../../talos/cluster/index.ts";
import { TalosError } from "../../../talos/errors.ts";

/** How long things take in this world, in milliseconds. */
const durations = { boot: 3000, join: 1500, learn: 1000, register: 2000, wipe: 4000 };

interface Machine {
  readonly name: string;
  readonly role: "controlplane" | "worker";
  version: string;
  schematic: string;
  /** What it ran before the last upgrade. */
  previous: { readonly version: string; readonly schematic: string } | undefined;
  config: string | undefined;
  /** Absent when nothing was ever written. */
  meta?: Readonly<Record<string, string>>;
  bootId: number;
  /** Not answering before this moment. */
  downUntil: number;
  lost: boolean;
  /** Since when it has been up. */
  upSince: number;
  member: { id: string; learnerUntil: number; joinedAt: number } | undefined;
  /** What its etcd believes to be its cluster; there must only ever be one. */
  etcdCluster: number | undefined;
  /** It has left etcd for good and does not join again before it is wiped. */
  left: boolean;
  node: { registeredAt: number; unschedulable: boolean; ours: boolean } | undefined;
  pods: number;
}

/**
 * One file, because only here the private state of the world may be touched.
 *
 * Talos machines, etcd and Kubernetes, as coarse as the engine can tell, and strict about what must never happen.
 */
export class World {
  readonly machines = new Map<string, Machine>();
  readonly violations: string[] = [];
  readonly log: string[] = [];
  bootstraps = 0;
  /** Images that do not boot: the machine falls back to what it ran before. */
  readonly brokenImages = new Set<string>();
  /** Images that cannot be fetched. */
  readonly missingImages = new Set<string>();
  /** Versions of Talos with which a machine boots, but its node never becomes ready. */
  readonly sickVersions = new Set<string>();
  /** Nodes whose pods do not let themselves be evicted. */
  readonly stubborn = new Set<string>();
  /** Milliseconds by which clocks are ahead. */
  readonly clocks = new Map<string, number>();
  /** Of the kube-proxy that runs; a change of configs does not reach it by itself. */
  proxyVersion: string | undefined;
  /** What machines have to complain about. */
  readonly diagnostics = new Map<string, readonly string[]>();
  /** Set while the whole cluster is being destroyed on purpose. */
  destroying = false;
  maxUnavailable = 1;
  lease: { readonly place: string; readonly renewed: number } | undefined;
  readonly #timing: Timing;
  #memberCount = 0;
  /** Who gave up the leadership last. */
  #stoodDown: string | undefined;

  constructor(timing: Timing) {
    this.#timing = timing;
  }

  add(name: string, role: "controlplane" | "worker", version = "v1.13.9"): void {
    this.machines.set(name, {
      name,
      role,
      version,
      schematic: "",
      previous: undefined,
      config: undefined,
      bootId: 1,
      downUntil: 0,
      lost: false,
      upSince: 0,
      member: undefined,
      etcdCluster: undefined,
      left: false,
      node: undefined,
      pods: 2,
    });
  }

  /** A dead machine, or one that was taken away; `replace` puts an empty one in its place. */
  lose(name: string): void {
    this.#machine(name).lost = true;
  }

  replace(name: string): void {
    const { role, version, member, node } = this.#machine(name);
    if (member !== undefined) this.ghosts = [...this.ghosts, { name, id: member.id }];
    this.add(name, role, version);
    this.#machine(name).node = node;
  }

  /** Members of etcd whose machines are gone. */
  ghosts: { readonly name: string; readonly id: string }[] = [];

  get now(): number {
    return this.#timing.now();
  }

  #machine(name: string): Machine {
    const found = this.machines.get(name);
    if (found === undefined) throw new Error(`no machine ${name}`);
    return found;
  }

  /** Times in which a machine cannot be reached, although nobody has touched it. */
  readonly blackouts: { readonly name: string; readonly from: number; readonly until: number }[] = [];

  up(machine: Machine): boolean {
    const dark = this.blackouts.some(
      ({ name, from, until }) => name === machine.name && from <= this.now && this.now < until,
    );
    return !machine.lost && !dark && this.now >= machine.downUntil;
  }

  #members(): { name: string; id: string; voter: boolean; healthy: boolean }[] {
    const living = [...this.machines.values()].flatMap((machine) => {
      if (machine.member === undefined) return [];
      const voter = this.now >= machine.member.learnerUntil;
      const healthy = this.up(machine) && this.now >= machine.upSince + durations.join;
      return [{ name: machine.name, id: machine.member.id, voter, healthy: healthy && voter }];
    });
    return [...living, ...this.ghosts.map(({ name, id }) => ({ name, id, voter: true, healthy: false }))];
  }

  hasQuorum(): boolean {
    const voters = this.#members().filter(({ voter }) => voter);
    return voters.length > 0 && voters.filter(({ healthy }) => healthy).length >= Math.floor(voters.length / 2) + 1;
  }

  /** Control planes with a config find etcd and join it by themselves, one learner at a time. */
  #settle(): void {
    const anyCluster = [...this.machines.values()].find(({ etcdCluster }) => etcdCluster !== undefined)?.etcdCluster;
    for (const machine of this.machines.values()) {
      if (machine.config === undefined || !this.up(machine)) continue;
      const isControlPlane = machine.role === "controlplane";
      if (
        isControlPlane &&
        !machine.left &&
        machine.member === undefined &&
        anyCluster !== undefined &&
        this.hasQuorum()
      ) {
        const learning = this.#members().some(({ voter }) => !voter);
        const stale = this.ghosts.some(({ name }) => name === machine.name);
        if (!learning && !stale && this.now >= machine.upSince + durations.join) {
          machine.member = { id: this.#newId(), learnerUntil: this.now + durations.learn, joinedAt: this.now };
          machine.etcdCluster = anyCluster;
        }
      }
      if (machine.node === undefined && this.now >= machine.upSince + durations.register && this.hasQuorum()) {
        machine.node = { registeredAt: this.now, unschedulable: false, ours: false };
      }
    }
  }

  #newId(): string {
    this.#memberCount++;
    return (0xa000 + this.#memberCount).toString(16);
  }

  #goDown(machine: Machine, time: number): void {
    const before = this.hasQuorum();
    machine.downUntil = this.now + time;
    machine.upSince = machine.downUntil;
    machine.bootId++;
    this.#checkOutage(machine, before);
  }

  #checkOutage(machine: Machine, hadQuorum: boolean): void {
    if (this.destroying) return;
    const voters = this.#members().filter(({ voter }) => voter);
    if (machine.role === "controlplane" && voters.length > 1 && hadQuorum && !this.hasQuorum()) {
      this.violations.push(`quorum lost when ${machine.name} went down`);
    }
    const down = [...this.machines.values()].filter(
      (other) => other.role === "worker" && other.node !== undefined && !other.lost && this.now < other.downUntil,
    );
    if (down.length > this.maxUnavailable) {
      this.violations.push(`workers down at once: ${down.map(({ name }) => name).join(", ")}`);
    }
  }

  state(name: string): MachineState {
    this.#settle();
    const machine = this.#machine(name);
    if (!this.up(machine)) return { kind: "unreachable", reason: "connection refused" };
    if (machine.config === undefined) return { kind: "maintenance", fingerprint: `print-${name}` };
    const members = this.#members();
    const own = members.find(({ id }) => id === machine.member?.id);
    const answering = machine.member !== undefined && this.now >= machine.upSince + durations.join;
    const running = answering && this.hasQuorum();
    const list: EtcdMember[] = members.map(({ name: hostname, id, voter }) => ({
      id,
      hostname,
      peerUrls: [],
      learner: !voter,
    }));
    const able = members.filter(({ healthy }) => healthy);
    const leader = (able.find(({ name: candidate }) => candidate !== this.#stoodDown) ?? able[0])?.id;
    return {
      kind: "configured",
      stage: this.now >= machine.upSince + durations.join ? "running" : "booting",
      ready: machine.node !== undefined,
      unmet: [],
      talosVersion: machine.version,
      schematic: machine.schematic,
      config: machine.config,
      bootId: `boot-${machine.bootId}`,
      meta: machine.meta ?? {},
      ...(machine.role === "worker"
        ? {}
        : {
            etcd: running
              ? {
                  state: "running",
                  healthy: own?.healthy === true,
                  memberId: own?.id ?? "",
                  leaderId: leader ?? "0",
                  members: list,
                }
              : {
                  state: machine.member === undefined && !machine.left ? "waiting" : "down",
                  healthy: false,
                  members: [],
                },
          }),
    };
  }

  nodes(): KubernetesNode[] {
    return [...this.machines.values()].flatMap((machine) => {
      if (machine.node === undefined) return [];
      const ready =
        this.up(machine) &&
        machine.config !== undefined &&
        !this.sickVersions.has(machine.version) &&
        this.now >= machine.upSince + durations.register;
      const version = /kubelet:(v[0-9.]+)/.exec(machine.config ?? "")?.[1] ?? "";
      return [
        {
          name: machine.name,
          ready,
          unschedulable: machine.node.unschedulable,
          cordonedByUs: machine.node.ours,
          controlPlane: machine.role === "controlplane",
          addresses: [],
          kubeletVersion: version,
        },
      ];
    });
  }

  #wantedProxy(): string | undefined {
    const configs = [...this.machines.values()].map(({ config }) => config ?? "");
    return configs.map((config) => /kube-proxy:v([0-9.]+)/.exec(config)?.[1]).find((version) => version !== undefined);
  }

  #configured(target: MachineTarget): Machine {
    const machine = this.#machine(target.name);
    if (!this.up(machine)) throw new TalosError("unavailable", `${target.name}: connection refused`);
    if (machine.config === undefined) throw new TalosError("permission-denied", `${target.name}: not our CA`);
    return machine;
  }

  port(): Machines {
    const world = this;
    const record = (what: string) => this.log.push(what);
    const kubernetes: Kubernetes = {
      async observe() {
        world.#settle();
        if (!world.hasQuorum()) return { kind: "unreachable", reason: "connection refused" };
        world.proxyVersion ??= world.#wantedProxy();
        const { proxyVersion } = world;
        return { kind: "reachable", nodes: world.nodes(), ...(proxyVersion === undefined ? {} : { proxyVersion }) };
      },
      endpointObstacle: async () =>
        world.hasQuorum() ? undefined : { reason: "connection refused", certificate: false },
      async drain(name, how) {
        const { node } = world.#machine(name);
        if (!world.hasQuorum()) throw new TalosError("unavailable", "kubernetes: connection refused");
        if (node === undefined) return undefined;
        record(`drain ${name}`);
        if (!node.unschedulable) {
          node.unschedulable = true;
          node.ours = true;
        }
        if (world.stubborn.has(name) && how === "evict") return `a disruption budget keeps pod default/${name}`;
        const machine = world.#machine(name);
        machine.pods = Math.max(0, machine.pods - 1);
        return machine.pods === 0 ? undefined : `${machine.pods} pods are on the way out`;
      },
      async setSchedulable(name, schedulable) {
        const { node } = world.#machine(name);
        if (!world.hasQuorum()) throw new TalosError("unavailable", "kubernetes: connection refused");
        if (node === undefined) throw new TalosError("not-found", `no node ${name}`);
        record(`${schedulable ? "uncordon" : "cordon"} ${name} for a person`);
        Object.assign(node, { unschedulable: !schedulable, ours: false });
      },
      async uncordon(name) {
        const { node } = world.#machine(name);
        if (!world.hasQuorum()) throw new TalosError("unavailable", "kubernetes: connection refused");
        record(`uncordon ${name}`);
        if (node?.ours) {
          node.unschedulable = false;
          node.ours = false;
        }
      },
      async component(component, name) {
        if (!world.hasQuorum()) throw new TalosError("unavailable", "kubernetes: connection refused");
        const config = world.#machine(name).config ?? "";
        const version = new RegExp(`${component}:v([0-9.]+)`).exec(config)?.[1];
        return version === undefined ? undefined : { version, ready: true };
      },
      workload: async (kind) => (kind === "daemonsets" ? { wanted: 1, updated: 1, ready: 1 } : undefined),
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
        if (lease !== undefined && lease.place !== holder.place && world.now - lease.renewed < 60_000)
          return lease.place;
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
      async deleteNode(name) {
        if (!world.hasQuorum()) throw new TalosError("unavailable", "kubernetes: connection refused");
        record(`delete node ${name}`);
        world.#machine(name).node = undefined;
      },
    };
    return {
      kubernetes,
      inspect: async (target) => world.state(target.name),
      async install(target, config) {
        const machine = world.#machine(target.name);
        if (!world.up(machine)) throw new TalosError("unavailable", `${target.name}: connection refused`);
        if (machine.config !== undefined)
          throw new TalosError("permission-denied", `${target.name}: wants a certificate`);
        record(`install ${target.name}`);
        machine.config = config;
        world.#goDown(machine, durations.boot);
        return { warnings: [] };
      },
      async changeConfig(target, config, effect) {
        const machine = world.#configured(target);
        record(`config ${target.name} ${effect}`);
        machine.config = config;
        if (effect === "reboot") world.#goDown(machine, durations.boot);
        return effect;
      },
      async writeMeta(target, key, value) {
        const machine = world.#configured(target);
        record(`meta ${target.name} ${key}`);
        machine.meta = { ...machine.meta, [key]: value };
      },
      async bootstrap(target) {
        world.#settle();
        const machine = world.#configured(target);
        if (machine.member !== undefined) throw new TalosError("already-exists", "etcd data directory is not empty");
        if (world.now < machine.upSince + 500)
          throw new TalosError("failed-precondition", "bootstrap is not available yet");
        record(`bootstrap ${target.name}`);
        world.bootstraps++;
        if ([...world.machines.values()].some(({ etcdCluster }) => etcdCluster !== undefined)) {
          world.violations.push(`${target.name} started a second etcd`);
        }
        machine.etcdCluster = world.bootstraps;
        machine.member = { id: world.#newId(), learnerUntil: world.now, joinedAt: world.now };
      },
      async forfeitLeadership(target) {
        world.#configured(target);
        record(`forfeit ${target.name}`);
        world.#stoodDown = target.name;
      },
      async leaveEtcd(target) {
        const machine = world.#configured(target);
        if (!world.hasQuorum()) throw new TalosError("unavailable", "etcdserver: no leader");
        record(`leave ${target.name}`);
        const before = world.hasQuorum();
        machine.member = undefined;
        machine.etcdCluster = undefined;
        machine.left = true;
        if (before && !world.hasQuorum()) world.violations.push(`quorum lost when ${target.name} left`);
      },
      async removeEtcdMember(via, memberId) {
        world.#configured(via);
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
        const machine = world.#configured(target);
        record(`reset ${target.name}${graceful ? " gracefully" : ""}`);
        if (machine.member !== undefined && !world.destroying) {
          world.violations.push(`${target.name} was wiped without leaving etcd`);
        }
        machine.member = undefined;
        machine.etcdCluster = undefined;
        machine.config = undefined;
        machine.meta = {};
        machine.left = false;
        world.#goDown(machine, durations.wipe);
      },
      async wipeData(target) {
        const machine = world.#configured(target);
        record(`wipe data of ${target.name}`);
        machine.member = undefined;
        machine.etcdCluster = undefined;
        machine.node = undefined;
        world.#goDown(machine, durations.boot);
      },
      async *snapshot(target) {
        world.#configured(target);
        yield* snapshotChunks(`etcd of ${target.name}`);
      },
      async restore(target, snapshot) {
        const machine = world.#configured(target);
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
        machine.member = { id: world.#newId(), learnerUntil: world.now, joinedAt: world.now };
      },
      async pullImage(target, { image }) {
        world.#configured(target);
        if (world.missingImages.has(image)) throw new TalosError("not-found", `${target.name}: no such image ${image}`);
        record(`pull ${target.name} ${image.slice(image.lastIndexOf("/") + 1)}`);
      },
      async rollback(target) {
        const machine = world.#configured(target);
        record(`rollback ${target.name}`);
        Object.assign(machine, machine.previous);
        world.#goDown(machine, durations.boot);
      },
      async reboot(target) {
        const machine = world.#configured(target);
        record(`reboot ${target.name}`);
        world.#goDown(machine, durations.boot);
      },
      clockOffset: async (target) => world.clocks.get(target.name) ?? 0,
      async bootstrapManifests(target) {
        const image = /kube-proxy:v[0-9.]+/.exec(world.#configured(target).config ?? "")?.[0];
        const metadata = { name: "kube-proxy", namespace: "kube-system" };
        return image === undefined ? [] : [{ apiVersion: "apps/v1", kind: "DaemonSet", metadata, spec: { image } }];
      },
      async upgrade(target, image) {
        const machine = world.#configured(target);
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
        world.#goDown(machine, durations.boot);
      },
      async health(target) {
        const machine = world.#configured(target);
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
      async kubeconfig(target) {
        world.#configured(target);
        return `kubeconfig from ${target.name}`;
      },
      close() {},
    };
  }
}

/** Bytes that look like a snapshot: whole pages and their hash. */
export function snapshotChunks(text: string): Uint8Array[] {
  const pages = Buffer.alloc(1024);
  pages.write(text, "latin1");
  return [pages.subarray(0, 700), pages.subarray(700), createHash("sha256").update(pages).digest()];
}
