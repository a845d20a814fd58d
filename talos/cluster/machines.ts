// SPDX-License-Identifier: Apache-2.0
import type { MachineRole } from "./desired.ts";
import type { MachineState, ObservedKubernetes } from "./observed.ts";
import type { KubernetesComponent } from "./step.ts";

/** A machine that the engine can talk to. */
export interface MachineTarget {
  readonly name: string;
  readonly role: MachineRole;
  readonly address: string;
  readonly fingerprint?: string;
}

export type ApplyEffect = "no-reboot" | "reboot";

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
    config: string,
    signal?: AbortSignal,
  ): Promise<{ readonly warnings: readonly string[] }>;
  /** New config of a configured machine; answers what the machine really did. */
  changeConfig(machine: MachineTarget, config: string, effect: ApplyEffect, signal?: AbortSignal): Promise<ApplyEffect>;
  /** Starts etcd. `already-exists` when this machine has etcd data. */
  bootstrap(machine: MachineTarget, signal?: AbortSignal): Promise<void>;
  forfeitLeadership(machine: MachineTarget, signal?: AbortSignal): Promise<void>;
  /** Takes the machine's own member out of etcd and stops it there. */
  leaveEtcd(machine: MachineTarget, signal?: AbortSignal): Promise<void>;
  /** Asks one control plane to remove another's member. */
  removeEtcdMember(via: MachineTarget, memberId: string, signal?: AbortSignal): Promise<void>;
  /** Wipes the machine; it boots again without a config. */
  reset(machine: MachineTarget, options: { readonly graceful: boolean }, signal?: AbortSignal): Promise<void>;
  /** Throws away all data of workloads and etcd and reboots; the config stays. */
  wipeData(machine: MachineTarget, signal?: AbortSignal): Promise<void>;
  /** etcd's snapshot, in chunks as they come. */
  snapshot(machine: MachineTarget, signal?: AbortSignal): AsyncIterable<Uint8Array>;
  /** Uploads a snapshot and starts etcd from it. */
  restore(machine: MachineTarget, snapshot: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<void>;
  /** Puts another Talos on the machine and reboots it; returns when the reboot has been ordered. */
  upgrade(machine: MachineTarget, image: string, signal?: AbortSignal): Promise<void>;
  /** What the health checks ask one machine beyond its state. Throws when it does not answer. */
  health(machine: MachineTarget, signal?: AbortSignal): Promise<MachineHealth>;
  /** The admin kubeconfig, YAML. Secret. */
  kubeconfig(machine: MachineTarget, signal?: AbortSignal): Promise<string>;
  readonly kubernetes: Kubernetes;
  close(): void;
}

export interface MachineHealth {
  /** By id, such as etcd and kubelet. */
  readonly services: ReadonlyMap<
    string,
    { readonly state: string; readonly healthy: boolean; readonly message: string }
  >;
  /** Bytes; absent when the machine does not tell. */
  readonly memory?: bigint;
  /** Bytes of Talos's partitions by volume, such as EPHEMERAL and STATE; empty in a container. */
  readonly volumes: ReadonlyMap<string, bigint>;
  readonly inContainer: boolean;
  /** Problems that the machine has found itself. */
  readonly diagnostics: readonly string[];
  /** Control planes only. */
  readonly staticPods: readonly { readonly name: string; readonly ready: boolean }[];
}

/** How many pods of a workload there should be and how many are ready. */
export interface WorkloadStatus {
  readonly wanted: number;
  readonly ready: number;
}

/** Who works on a cluster. Runs at one place keep apart by other means, so that a dead one's lease may be taken over. */
export interface LeaseHolder {
  /** The computer, its boot and the user. */
  readonly place: string;
  readonly run: string;
}

/** What the engine needs of the Kubernetes API. */
export interface Kubernetes {
  /** Never throws because the API is not there. */
  observe(signal?: AbortSignal): Promise<ObservedKubernetes>;
  /** Undefined when the cluster's endpoint says that it is ready, else why not. */
  notReadyReason(signal?: AbortSignal): Promise<string | undefined>;
  /** Marks the node unschedulable, as ours, and evicts its pods. Undefined when none is left, else what is in the way. */
  drain(node: string, signal?: AbortSignal): Promise<string | undefined>;
  /** Lifts a cordon that carries our mark. */
  uncordon(node: string, signal?: AbortSignal): Promise<void>;
  /** What runs of a control plane component on a node; undefined while its pod is not there. */
  component(
    component: KubernetesComponent,
    node: string,
    signal?: AbortSignal,
  ): Promise<{ readonly version: string; readonly ready: boolean } | undefined>;
  /** Undefined when there is no such workload in kube-system. */
  workload(kind: "daemonsets" | "deployments", name: string, signal?: AbortSignal): Promise<WorkloadStatus | undefined>;
  /** Takes or renews the cluster's lock for changes. Undefined when it is ours, else who has it. */
  takeLease(holder: LeaseHolder, signal?: AbortSignal): Promise<string | undefined>;
  releaseLease(holder: LeaseHolder): Promise<void>;
  /** A node that is not there is fine. */
  deleteNode(node: string, signal?: AbortSignal): Promise<void>;
}
