// SPDX-License-Identifier: Apache-2.0
import type { Fault } from "../control/fault-schema.ts";
import type { Life, ServiceState } from "./life.ts";

/** What lies in /var/lib/etcd of one machine. */
interface EtcdData {
  readonly memberId: string;
}

export interface EtcdMember {
  /** 16 hex digits. */
  readonly id: string;
  /** The simulated machine behind it. */
  readonly machine: string;
  readonly name: string;
  readonly address: string;
  readonly learner: boolean;
  readonly joinedAt: number;
}

export interface EtcdCluster {
  readonly members: readonly EtcdMember[];
  /** Member id; absent while there is no quorum or an election runs. */
  readonly leader?: string;
  /** An election ends at this time. */
  readonly electionUntil?: number;
  readonly term: number;
  /** The minor version that a downgrade was enabled for, such as 3.5. */
  readonly downgrade?: string;
  /** Grows with every change of membership and every Kubernetes write. */
  readonly index: number;
}

export interface UnmetCondition {
  readonly name: string;
  readonly reason: string;
}

export type EventBody =
  | {
      readonly kind: "sequence";
      readonly sequence: string;
      readonly action: "NOOP" | "START" | "STOP";
      readonly error?: { readonly code: "FATAL" | "LOCKED" | "CANCELED"; readonly message: string };
    }
  | { readonly kind: "phase"; readonly phase: string; readonly action: "START" | "STOP" }
  | { readonly kind: "task"; readonly task: string; readonly action: "START" | "STOP" }
  | {
      readonly kind: "service";
      readonly service: string;
      readonly state: string;
      readonly message: string;
      readonly healthy?: boolean;
    }
  | {
      readonly kind: "status";
      readonly stage: string;
      readonly ready: boolean;
      readonly unmet: readonly UnmetCondition[];
    }
  | { readonly kind: "address"; readonly hostname: string; readonly addresses: readonly string[] };

export interface MachineEvent {
  /** Counts up for the life of the machine. */
  readonly number: number;
  readonly at: number;
  /** The sequence's caller, where there is one. */
  readonly actor?: string;
  readonly body: EventBody;
}

/** A PEM certificate with its key. */
export interface Identity {
  readonly certificate: string;
  readonly key: string;
}

/** What survives a reboot. A reset wipes parts of it. */
export interface Disk {
  /** The release that the boot loader starts; absent until installed (the machine then boots from its image). */
  readonly installed?: string;
  /** The installer image that it came from. */
  readonly installedImage?: string;
  /** The other half of the A/B pair: what a failed boot or a rollback goes back to. */
  readonly previous?: string;
  readonly previousImage?: string;
  /** Set by an upgrade: the next boot is the first one of `installed`. */
  readonly firstBoot?: boolean;
  /** The machine config on the STATE partition. */
  readonly config?: string;
  /** /var/lib/etcd on EPHEMERAL. */
  readonly etcd?: EtcdData;
  /** A snapshot that was uploaded by EtcdRecover and not yet used: its name on the shelf. */
  readonly recovery?: string;
  readonly meta: Readonly<Record<string, string>>;
}

export interface Machine {
  /** Also the hardware UUID. */
  readonly id: string;
  readonly name: string;
  /** The cluster it was made for: a label only, what counts is the config that it gets. */
  readonly cluster: string;
  /** Who had it made, such as a Terraform state; absent where nobody said so. */
  readonly owner?: string;
  readonly address: string;
  /** The release that runs now, with the leading v. */
  readonly talosVersion: string;
  /** The release of the image that the machine was made from: what runs before an install and after a wipe. */
  readonly imageVersion: string;
  /** Server certificate in maintenance mode: one for the life of the machine, so that a pinned fingerprint holds. */
  readonly maintenance: Identity;
  readonly disk: Disk;
  /** A config that its platform hands out, as user-data of a cloud or a seed do: taken when STATE has none. */
  readonly userData?: string;
  readonly life: Life;
  /** The config in use; differs from the one on disk in staged and try mode. */
  readonly activeConfig?: string;
  /** Documents that came in maintenance mode without the main one. */
  readonly partialConfig?: string;
  /** Try mode: when to go back to the config on disk. */
  readonly tryUntil?: number;
  readonly bootId: string;
  readonly bootedAt: number;
  readonly services: Readonly<Record<string, ServiceState>>;
  /** Services that a person stopped; they stay down until started or rebooted. */
  readonly stopped: readonly string[];
  /** When the control plane's static pods are up; absent while they do not run. */
  readonly staticPodsAt?: number;
  /** Control plane components and the kubelet. */
  readonly components: Readonly<Record<string, Component>>;
  /** The last of a bounded history. */
  readonly events: readonly MachineEvent[];
  readonly eventCount: number;
  /** Images pulled by name, for the upgrade that wants one. */
  readonly images: readonly string[];
  readonly faults: readonly Fault[];
}

/** A Kubernetes object as stored in etcd: free-form apart from its metadata. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMetadata;
  readonly [field: string]: unknown;
}

export interface ObjectMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

export interface Component {
  /** What runs. */
  readonly image: string;
  /** Fingerprint of the CAs that it runs with. */
  readonly authorities?: string;
  /** Fingerprint of the part of the config that its pod is made of. */
  readonly settings?: string;
  /** How often its config changed since boot. */
  readonly version: number;
  /** Until then its pod is replaced or restarts. @default it is not */
  readonly readyAt?: number;
  /** How often its container was restarted since its pod was made. @default never */
  readonly restarts?: number;
}

/** What the control plane remembers about a kubelet. */
export interface KubeletRecord {
  readonly machine: string;
  readonly registeredAt: number;
  /** Since when its heartbeat is missing. */
  readonly silentSince?: number;
}

/** What the machines of one cluster share: etcd and, inside it, the Kubernetes objects. */
export interface Cluster {
  readonly key: string;
  readonly etcd?: EtcdCluster;
  /** By `<resource>/<namespace or empty>/<name>`. */
  readonly objects: Readonly<Record<string, KubernetesObject>>;
  readonly revision: number;
  /** Where it was restored from a database of a real etcd: that one's name on the shelf, and its last revision. */
  readonly restored?: { readonly snapshot: string; readonly revision: number };
  /** By node name. */
  readonly kubelets: Readonly<Record<string, KubeletRecord>>;
  /** Pods that are being started, by `<namespace>/<name>`: when each is ready. */
  readonly starting?: Readonly<Record<string, number>>;
  /** Deployments that are not there yet, by `<namespace>/<name>`: how far each is, and when that is too late. */
  readonly rollouts?: Readonly<Record<string, { readonly progress: string; readonly deadline: number }>>;
  /** The CAs of Kubernetes that a running pod has read at its start and keeps in memory, by the pod's uid. */
  readonly trusted?: Readonly<Record<string, string>>;
  /** Pods on their way out, by `<namespace>/<name>`: when each is gone. */
  readonly terminating?: Readonly<Record<string, number>>;
  /** The machine that answers for the shared address, and when the address is (again) reachable. */
  readonly virtualIp?: { readonly address: string; readonly owner: string; readonly at: number };
}

/** All there is, as plain data: what is written to disk, and what every controller turns into the next world. */
export interface World {
  readonly machines: Readonly<Record<string, Machine>>;
  readonly clusters: Readonly<Record<string, Cluster>>;
}

export const emptyWorld: World = { machines: {}, clusters: {} };

/** The same world with one machine put in or replaced. */
export function withMachine(world: World, machine: Machine): World {
  if (world.machines[machine.id] === machine) return world;
  return { ...world, machines: { ...world.machines, [machine.id]: machine } };
}

export function withoutMachine(world: World, id: string): World {
  return { ...world, machines: without(world.machines, id) };
}

export function withCluster(world: World, cluster: Cluster): World {
  if (world.clusters[cluster.key] === cluster) return world;
  return { ...world, clusters: { ...world.clusters, [cluster.key]: cluster } };
}

/** Every machine through one function; the same world when nothing changed. */
export function mapMachines(world: World, change: (machine: Machine) => Machine): World {
  let machines: Record<string, Machine> | undefined;
  for (const machine of Object.values(world.machines)) {
    const next = change(machine);
    if (next === machine) continue;
    machines ??= { ...world.machines };
    machines[machine.id] = next;
  }
  return machines === undefined ? world : { ...world, machines };
}

/** Every cluster through one function, which sees the world with the changes so far. */
export function mapClusters(world: World, change: (cluster: Cluster, world: World) => Cluster): World {
  return Object.values(world.clusters).reduce((next, cluster) => withCluster(next, change(cluster, next)), world);
}

/** The same value without some of its fields. */
export function without<T extends object, K extends keyof T>(value: T, ...keys: readonly K[]): Omit<T, K> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key as K))) as Omit<T, K>;
}

/** Data as JSON and YAML have it, of which nothing is known yet. */
export type Tree = Readonly<Record<string, unknown>>;

export function tree(value: unknown): Tree {
  return isTree(value) ? value : {};
}

/** What is at a path inside of a value; undefined where it leads nowhere. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((part, key) => (part as Tree | undefined)?.[key], value);
}

/** What an object wants, of the form that its kind has. */
export function specOf<T extends object>(object: { readonly [field: string]: unknown }): Partial<T> {
  return (object.spec ?? {}) as Partial<T>;
}

/** How an object is. */
export function statusOf<T extends object>(object: { readonly [field: string]: unknown }): Partial<T> {
  return (object.status ?? {}) as Partial<T>;
}

export function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
