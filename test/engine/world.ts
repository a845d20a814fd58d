// SPDX-License-Identifier: Apache-2.0
import type {
  ClientPods,
  EtcdMember,
  KubernetesNode,
  MachineState,
  Machines,
  MachineTarget,
  Ownership,
  Timing,
} from "../../engine/index.ts";
import { MachineConfig } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { worldMachines } from "./world-machines.ts";

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
 * Talos machines, etcd and Kubernetes, as coarse as the engine can tell, and strict about what must never happen.
 */
export class World {
  readonly durations = durations;
  readonly #machines = new Map<string, Machine>();
  readonly violations: string[] = [];
  readonly log: string[] = [];
  bootstraps = 0;
  /** Images that do not boot: the machine falls back to what it ran before. */
  readonly brokenImages = new Set<string>();
  /** Images that cannot be fetched. */
  readonly missingImages = new Set<string>();
  /** Versions of Talos with which a machine boots, but its node never becomes ready. */
  readonly sickVersions = new Set<string>();
  /** The address that a control plane answers for beside its own, by its name. */
  readonly sharedAddresses = new Map<string, string>();
  /** Components that never become ready with a version, such as `kube-scheduler 1.36.3`. */
  readonly sickComponents = new Set<string>();
  /** Nodes whose pods do not let themselves be evicted. */
  readonly stubborn = new Set<string>();
  /** Milliseconds by which clocks are ahead. */
  readonly clocks = new Map<string, number>();
  /** Of the kube-proxy that runs; a change of configs does not reach it by itself. */
  proxyVersion: string | undefined;
  readonly clientPods: ClientPods[] = [];
  readonly proxyFaults: string[] = [];
  /** What machines have to complain about. */
  readonly diagnostics = new Map<string, readonly string[]>();
  /** What services of machines report that do not run. */
  readonly serviceErrors = new Map<string, readonly string[]>();
  /** Set while the whole cluster is being destroyed on purpose. */
  destroying = false;
  maxUnavailable = 1;
  lease: { readonly place: string; readonly renewed: number } | undefined;
  ownership: Ownership | undefined;
  readonly #timing: Timing;
  #memberCount = 0;
  /** Of a thousand machines the few that can be members of etcd: everybody asks for them all the time. */
  readonly #planes = new Map<string, Machine>();
  readonly #configs = new Map<string, MachineConfig>();
  readonly #kubelets = new Map<string, string>();
  #settledAt: number | undefined;
  /** Who gave up the leadership last. */
  stoodDown: string | undefined;

  constructor(timing: Timing) {
    this.#timing = timing;
  }

  add(name: string, role: "controlplane" | "worker", version = "v1.13.9"): void {
    const machine: Machine = {
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
    };
    this.#machines.set(name, machine);
    if (role === "controlplane") this.#planes.set(name, machine);
  }

  /** Nobody will speak of it again. */
  forget(name: string): void {
    this.#machines.delete(name);
    this.#planes.delete(name);
  }

  get machines(): ReadonlyMap<string, Machine> {
    return this.#machines;
  }

  /** A dead machine, or one that was taken away; `replace` puts an empty one in its place. */
  lose(name: string): void {
    this.machine(name).lost = true;
  }

  replace(name: string): void {
    const { role, version, member, node } = this.machine(name);
    if (member !== undefined) this.ghosts = [...this.ghosts, { name, id: member.id }];
    this.add(name, role, version);
    this.machine(name).node = node;
  }

  /** Members of etcd whose machines are gone. */
  ghosts: { readonly name: string; readonly id: string }[] = [];

  get now(): number {
    return this.#timing.elapsed();
  }

  machine(name: string): Machine {
    const found = this.machines.get(name);
    if (found === undefined) throw new Error(`no machine ${name}`);
    return found;
  }

  /** Times in which a machine cannot be reached, although nobody has touched it. */
  readonly blackouts: { readonly name: string; readonly from: number; readonly until: number }[] = [];

  up(machine: Machine): boolean {
    if (machine.lost || this.now < machine.downUntil) return false;
    return !this.blackouts.some(
      ({ name, from, until }) => name === machine.name && from <= this.now && this.now < until,
    );
  }

  #members(): { name: string; id: string; voter: boolean; healthy: boolean }[] {
    const living = [...this.#planes.values()].flatMap((machine) => {
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
  settle(): void {
    if (this.#settledAt === this.now) return;
    this.#settledAt = this.now;
    const anyCluster = [...this.#planes.values()].find(({ etcdCluster }) => etcdCluster !== undefined)?.etcdCluster;
    for (const machine of this.machines.values()) {
      const isControlPlane = machine.role === "controlplane";
      // Of a thousand machines nearly all: what the world itself does must not grow with their square.
      if (machine.node !== undefined && (!isControlPlane || machine.member !== undefined || machine.left)) continue;
      if (machine.config === undefined || !this.up(machine)) continue;
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
          machine.member = { id: this.newId(), learnerUntil: this.now + durations.learn, joinedAt: this.now };
          machine.etcdCluster = anyCluster;
        }
      }
      if (machine.node === undefined && this.now >= machine.upSince + durations.register && this.hasQuorum()) {
        machine.node = { registeredAt: this.now, unschedulable: false, ours: false };
      }
    }
  }

  newId(): string {
    this.#memberCount++;
    return (0xa000 + this.#memberCount).toString(16);
  }

  goDown(machine: Machine, time: number): void {
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
    this.settle();
    const machine = this.machine(name);
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
    const leader = (able.find(({ name: candidate }) => candidate !== this.stoodDown) ?? able[0])?.id;
    return {
      kind: "configured",
      stage: this.now >= machine.upSince + durations.join ? "running" : "booting",
      ready: machine.node !== undefined,
      unmet: [],
      talosVersion: machine.version,
      schematic: machine.schematic,
      config: this.#read(name, machine.config),
      bootId: `boot-${machine.bootId}`,
      meta: machine.meta ?? {},
      ...given({ sharedAddress: this.sharedAddresses.get(name) }),
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

  /** As over the wire: a config that stays the same is read once. */
  #read(name: string, text: string): MachineConfig {
    const known = this.#configs.get(name);
    const config = known?.text === text ? known : new MachineConfig(text);
    this.#configs.set(name, config);
    return config;
  }

  nodes(): KubernetesNode[] {
    const nodes: KubernetesNode[] = [];
    for (const name of this.machines.keys()) {
      const node = this.node(name);
      if (node !== undefined) nodes.push(node);
    }
    return nodes;
  }

  node(name: string): KubernetesNode | undefined {
    const machine = this.machines.get(name);
    if (machine?.node === undefined) return undefined;
    const ready =
      this.up(machine) &&
      machine.config !== undefined &&
      !this.sickVersions.has(machine.version) &&
      this.now >= machine.upSince + durations.register;
    return {
      name,
      ready,
      unschedulable: machine.node.unschedulable,
      cordonedByUs: machine.node.ours,
      controlPlane: machine.role === "controlplane",
      addresses: [],
      kubeletVersion: this.#kubeletVersion(machine.config ?? ""),
    };
  }

  /** Read once: every list of nodes asks for all of them. */
  #kubeletVersion(config: string): string {
    const known = this.#kubelets.get(config);
    if (known !== undefined) return known;
    const version = /kubelet:(v[0-9.]+)/.exec(config)?.[1] ?? "";
    this.#kubelets.set(config, version);
    return version;
  }

  wantedProxy(): string | undefined {
    const configs = [...this.machines.values()].map(({ config }) => config ?? "");
    return configs.map((config) => /kube-proxy:v([0-9.]+)/.exec(config)?.[1]).find((version) => version !== undefined);
  }

  configured(target: MachineTarget): Machine {
    const machine = this.machine(target.name);
    if (!this.up(machine)) throw new TalosError("unavailable", `${target.name}: connection refused`);
    if (machine.config === undefined) throw new TalosError("permission-denied", `${target.name}: not our CA`);
    return machine;
  }

  /** The engine's way into it. */
  port(): Machines {
    return worldMachines(this);
  }
}
