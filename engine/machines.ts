// SPDX-License-Identifier: Apache-2.0
import type { MachineConfig } from "../talos/config/index.ts";
import type { MachineRole } from "./desired.ts";
import type { MachineState, ObservedComponent, ObservedKubernetes, ObservedNode } from "./observed.ts";
import type { KubernetesComponent, WantedImage } from "./step.ts";

/** A machine that the engine can talk to. */
export interface MachineTarget {
  readonly name: string;
  readonly role: MachineRole;
  readonly address: string;
  readonly fingerprint?: string;
  /** What it should run; with an image of the image factory, its schematic is looked at, too. */
  readonly installImage?: string;
  /** What its META should hold; without, it is not asked for it. */
  readonly meta?: Readonly<Record<string, string>>;
  /** Of an auto scaling group: then it is reached through the control planes. */
  readonly scalingPool?: string;
}

export type ApplyEffect = "no-reboot" | "reboot";

/** A Kubernetes object as its manifest has it. */
export type ManifestObject = Readonly<Record<string, unknown>>;

/**
 * Everything the engine does to the world, so that it can be run against real machines and against a model of them.
 * Errors are TalosErrors; those with `retryable` and `failed-precondition` are tried again until the step's time is up.
 */
export interface Machines {
  /** Never throws because of the machine: what can't be reached is a state. */
  inspect(machine: MachineTarget, signal?: AbortSignal): Promise<MachineState>;
  /** First config of a machine in maintenance mode. */
  install(
    machine: MachineTarget,
    config: MachineConfig,
    signal?: AbortSignal,
  ): Promise<{ readonly warnings: readonly string[] }>;
  /** New config of a configured machine; answers what the machine really did. */
  changeConfig(
    machine: MachineTarget,
    config: MachineConfig,
    effect: ApplyEffect,
    signal?: AbortSignal,
  ): Promise<ApplyEffect>;
  /** Writes one key of META; an empty value takes it away. */
  writeMeta(machine: MachineTarget, key: number, value: string, signal?: AbortSignal): Promise<void>;
  /** Starts etcd. `already-exists` when this machine has etcd data. */
  bootstrap(machine: MachineTarget, signal?: AbortSignal): Promise<void>;
  forfeitLeadership(machine: MachineTarget, signal?: AbortSignal): Promise<void>;
  /** Takes the machine's own member out of etcd and stops it there. */
  leaveEtcd(machine: MachineTarget, signal?: AbortSignal): Promise<void>;
  /** Asks one control plane to remove another's member. */
  removeEtcdMember(via: MachineTarget, memberId: string, signal?: AbortSignal): Promise<void>;
  /** Wipes the machine; it boots again without a config, or stays off where `reboot` is false. */
  reset(
    machine: MachineTarget,
    options: { readonly graceful: boolean; readonly reboot: boolean },
    signal?: AbortSignal,
  ): Promise<void>;
  /** Throws away all data of workloads and etcd and reboots; the config stays. */
  wipeData(machine: MachineTarget, signal?: AbortSignal): Promise<void>;
  /** Uploads a snapshot and starts etcd from it. */
  restore(machine: MachineTarget, snapshot: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<void>;
  /** Fetches an image. What the machine has already is not fetched again. */
  pullImage(machine: MachineTarget, wanted: WantedImage, signal?: AbortSignal): Promise<void>;
  /** Puts another Talos on the machine and reboots it; returns when the reboot has been ordered. */
  upgrade(machine: MachineTarget, image: string, signal?: AbortSignal): Promise<void>;
  /** Boots the Talos that ran before the last upgrade; returns when the reboot has been ordered. */
  rollback(machine: MachineTarget, signal?: AbortSignal): Promise<void>;
  /** Returns when the reboot has been ordered. */
  reboot(machine: MachineTarget, signal?: AbortSignal): Promise<void>;
  /** Stops everything and powers the machine off; returns when that has been ordered. */
  shutdown(machine: MachineTarget, signal?: AbortSignal): Promise<void>;
  /** Milliseconds by which the machine's clock is ahead of ours; undefined when it does not tell. */
  clockOffset(machine: MachineTarget, signal?: AbortSignal): Promise<number | undefined>;
  /** The Kubernetes objects that a control plane makes from its config, such as kube-proxy. */
  bootstrapManifests(machine: MachineTarget, signal?: AbortSignal): Promise<readonly ManifestObject[]>;
  /** What the health checks ask one machine beyond its state. Throws when it does not answer. */
  health(machine: MachineTarget, signal?: AbortSignal): Promise<MachineHealth>;
  /** What volumes and services of the machine report that do not work, `service etcd: Failed to …`. Throws when it does not answer. */
  serviceErrors(machine: MachineTarget, signal?: AbortSignal): Promise<readonly string[]>;
  /** The admin kubeconfig, YAML. Secret. */
  kubeconfig(machine: MachineTarget, signal?: AbortSignal): Promise<string>;
  readonly kubernetes: Kubernetes;
  close(): void;
}

export interface ServiceHealth {
  readonly state: string;
  readonly healthy: boolean;
  /** Its last error, else what the last health check said. */
  readonly message: string;
  /** Since when it runs, by the machine's clock; absent while it does not run. */
  readonly since?: Date;
}

export interface MachineHealth {
  /** By id, such as etcd and kubelet. */
  readonly services: ReadonlyMap<string, ServiceHealth>;
  /** Bytes; absent when the machine does not tell. */
  readonly memory?: bigint;
  /** Bytes of Talos's partitions by volume, such as EPHEMERAL and STATE; empty in a container. */
  readonly volumes: ReadonlyMap<string, bigint>;
  readonly inContainer: boolean;
  /** Problems that the machine has found itself. */
  readonly diagnostics: readonly string[];
  /** Control planes only. */
  readonly staticPods: readonly { readonly name: string; readonly ready: boolean }[];
  /** Ids of the containers of pods that run; absent when the machine does not tell. */
  readonly containers?: ReadonlySet<string>;
}

export type WorkloadKind = "daemonsets" | "deployments";

/** A workload of kube-system. */
export interface Workload {
  readonly kind: WorkloadKind;
  readonly name: string;
}

/** Pods of one owner that may use the Kubernetes API. */
export interface ClientPods {
  /** Such as `Deployment default/web`. */
  readonly owner: string;
  readonly pods: number;
  /** When the oldest of them was made, in Kubernetes' notation. */
  readonly since: string;
}

/** How many pods of a workload there should be, how many of them are of its newest form, and how many are ready. */
export interface WorkloadStatus {
  readonly wanted: number;
  readonly updated: number;
  readonly ready: number;
}

export interface WorkloadOptions {
  /** Nodes whose pods do not count. */
  readonly without?: readonly string[];
  /** Whether a node's machine runs these containers. @default what Kubernetes says of a pod is taken for true */
  readonly runs?: (node: string, containers: readonly string[]) => boolean;
  readonly signal?: AbortSignal | undefined;
}

/** An API that clients use and a coming version of Kubernetes does not serve. */
export interface GoneApi {
  /** Such as `flowschemas.v1beta3.flowcontrol.apiserver.k8s.io`. */
  readonly name: string;
  readonly removedIn: string;
  /** How many objects exist only by it; absent where it is only the requests that are known. */
  readonly objects?: number;
}

export interface ManifestChange {
  readonly action: "created" | "configured" | "deleted";
  /** Such as `DaemonSet/kube-system/kube-proxy`. */
  readonly subject: string;
}

/** Who works on a cluster. Runs at one place keep apart by other means, so that a dead one's lease may be taken over. */
export interface LeaseHolder {
  /** Where it runs, by `lockPlace`. */
  readonly place: string;
  readonly run: string;
}

/** The cluster's lock as somebody holds it. */
export interface LeaseState {
  readonly holder: string;
  /** When it was last said to be needed, in Kubernetes' notation. */
  readonly renewed: string;
  /** Its holder has been silent for so long that the next run takes it over. */
  readonly expired: boolean;
}

/** Which state a cluster belongs to, as it is written down in the cluster. */
export interface Ownership {
  readonly owner?: string;
  /** Other names of the same state: from before it was moved, or of copies of it. */
  readonly formerly?: readonly string[];
  /** States with workers of it. */
  readonly joined: readonly string[];
  /** How often it was applied. */
  readonly applies: number;
  /** When that was last, ISO. */
  readonly changed?: string;
}

/** What the engine needs of the Kubernetes API. */
export interface Kubernetes {
  /** Never throws because the API is not there. */
  observe(signal?: AbortSignal): Promise<ObservedKubernetes>;
  /** The same for one node, at the cost of one instead of all. */
  observeNode(name: string, signal?: AbortSignal): Promise<ObservedNode>;
  /** Undefined when the cluster's endpoint says that it is ready, else why not, and whether its certificate is to blame. */
  endpointObstacle(
    signal?: AbortSignal,
  ): Promise<{ readonly reason: string; readonly certificate: boolean } | undefined>;
  /**
   * Marks the node unschedulable, as ours, and sends its pods away: `evict` respects disruption budgets, `delete` does
   * not. Undefined when none is left, else what is in the way.
   */
  drain(node: string, how: "evict" | "delete", signal?: AbortSignal): Promise<string | undefined>;
  /** As `kubectl cordon` and `uncordon` do it: without our mark, and whoever's cordon it was. */
  setSchedulable(node: string, schedulable: boolean, signal?: AbortSignal): Promise<void>;
  /** Lifts a cordon that carries our mark. */
  uncordon(node: string, signal?: AbortSignal): Promise<void>;
  /** What runs of a control plane component on a node; undefined while its pod is not there. */
  component(
    component: KubernetesComponent,
    node: string,
    signal?: AbortSignal,
  ): Promise<Pick<ObservedComponent, "version" | "ready" | "reason"> | undefined>;
  /** Undefined when there is no such workload in kube-system. */
  workload(kind: WorkloadKind, name: string, options?: WorkloadOptions): Promise<WorkloadStatus | undefined>;
  /** The CAs that pods trust which start now, PEM; empty while there are none. */
  rootCas(signal?: AbortSignal): Promise<string>;
  /** Replaces the pods of a workload, unless it was restarted with the same mark before. */
  restartWorkload(workload: Workload, mark: string, signal?: AbortSignal): Promise<void>;
  /** Who uses the API from pods. */
  clientPods(signal?: AbortSignal): Promise<readonly ClientPods[]>;
  /** Why kube-proxies cannot follow the API, node by node. */
  proxyFaults(signal?: AbortSignal): Promise<readonly string[]>;
  /** Requests for APIs that this version of Kubernetes no longer has, as the API servers have counted them. */
  apisGoneWith(version: string, signal?: AbortSignal): Promise<readonly GoneApi[]>;
  /**
   * Makes the cluster's objects what the manifests say. `inventory`: applied server-side under Talos's name, with what
   * its inventory lists and the manifests no longer have deleted, as Talos does it since 1.13. Answers what was changed.
   */
  syncManifests(
    objects: readonly ManifestObject[],
    options: { readonly inventory: boolean; readonly signal?: AbortSignal | undefined },
  ): Promise<readonly ManifestChange[]>;
  /**
   * Takes or renews the cluster's lock for changes. Undefined when it is ours, else who has it. `watching` hears what
   * is waited for, where it takes time.
   */
  takeLease(
    holder: LeaseHolder,
    signal?: AbortSignal,
    watching?: (message: string) => void,
  ): Promise<string | undefined>;
  releaseLease(holder: LeaseHolder): Promise<void>;
  /** Undefined when nobody has the lock. */
  readLease(signal?: AbortSignal): Promise<LeaseState | undefined>;
  /** Takes the lock away from whoever has it. */
  deleteLease(signal?: AbortSignal): Promise<void>;
  /** Undefined when nothing is written down. */
  readOwnership(signal?: AbortSignal): Promise<Ownership | undefined>;
  /** `change` sees what is written down at the moment of writing, and throws to keep it. Answers what is now. */
  changeOwnership(change: (known: Ownership | undefined) => Ownership, signal?: AbortSignal): Promise<Ownership>;
  /** A node that is not there is fine. */
  deleteNode(node: string, signal?: AbortSignal): Promise<void>;
}
