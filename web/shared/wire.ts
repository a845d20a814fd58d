// SPDX-License-Identifier: Apache-2.0

/** What the page and its server say to each other. JSON, no secret, dates as ISO texts. */

export type Role = "controlplane" | "worker";

export type MachineHealth = "ready" | "starting" | "maintenance" | "unreachable" | "planned";

export interface MachineRow {
  readonly name: string;
  readonly role: Role;
  readonly address: string | null;
  readonly health: MachineHealth;
  /** In Talos's words: running, upgrading …, or why it can't be reached. */
  readonly stage: string;
  readonly talosVersion: string | null;
  readonly kubeletVersion: string | null;
  readonly cordoned: boolean;
  readonly etcd: "leader" | "member" | "learner" | "waiting" | "down" | null;
}

export interface Condition {
  /** As `talosctl health` calls it. */
  readonly name: string;
  readonly state: "waiting" | "ok" | "skipped" | "failed";
  readonly reason: string | null;
  /** Since when it has been so, as far as this server has seen. */
  readonly since: string;
}

export interface EtcdMemberRow {
  readonly id: string;
  readonly name: string;
  readonly leader: boolean;
  readonly learner: boolean;
  readonly healthy: boolean;
}

export interface EtcdView {
  readonly members: readonly EtcdMemberRow[];
  readonly voters: number;
  readonly healthy: number;
  readonly quorum: number;
  /** How many more members may fail before etcd stops. Negative: it has stopped. */
  readonly spare: number;
}

export interface PlannedStep {
  readonly id: string;
  readonly sentence: string;
  readonly destructive: boolean;
}

export interface CertificateRow {
  readonly name: string;
  readonly expiresAt: string;
  readonly daysLeft: number;
}

/** One environment with what was last seen of its cluster. */
export interface ClusterView {
  readonly environment: string;
  readonly kind: string;
  readonly cluster: string;
  readonly talosVersion: string;
  readonly kubernetesVersion: string;
  readonly endpoint: string | null;
  readonly state: "healthy" | "unhealthy" | "not deployed" | "unknown";
  /** Why it is in this state, when there is something to say. */
  readonly note: string | null;
  readonly seenAt: string | null;
  readonly machines: readonly MachineRow[];
  readonly conditions: readonly Condition[];
  readonly etcd: EtcdView | null;
  /** What an apply would do now. */
  readonly pending: readonly PlannedStep[];
  readonly certificates: readonly CertificateRow[];
}

/** An environment whose file has faults. */
export interface BrokenEnvironment {
  readonly environment: string;
  readonly fault: string;
}

export type OperationKind = "apply" | "destroy" | "reboot" | "cordon" | "uncordon" | "drain" | "backup";

export interface OperationEvent {
  readonly at: string;
  readonly type: string;
  readonly message: string;
  readonly machine: string | null;
  readonly step: string | null;
}

export interface OperationView {
  readonly id: string;
  readonly kind: OperationKind;
  readonly environment: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly state: "running" | "stopping" | "done" | "failed" | "stopped";
  readonly steps: readonly PlannedStep[];
  readonly events: readonly OperationEvent[];
  /** In words, when it failed or was stopped: what happened and how to go on. */
  readonly outcome: string | null;
}

/** Everything at once: sent whole on connecting, and again when something has changed. */
export interface Overview {
  readonly version: string;
  readonly readOnly: boolean;
  readonly clusters: readonly ClusterView[];
  readonly broken: readonly BrokenEnvironment[];
  readonly operations: readonly OperationView[];
}

/** What a machine's page shows beyond its row. */
export interface MachineDetail {
  readonly name: string;
  readonly services: readonly { readonly name: string; readonly state: string; readonly healthy: boolean | null }[];
  readonly addresses: readonly string[];
  readonly disks: readonly { readonly name: string; readonly size: string; readonly model: string }[];
  /** The active config with secrets replaced. */
  readonly config: string | null;
  /** From the active config to the desired one, by document and path, secrets replaced. */
  readonly changes: readonly string[];
}
