// SPDX-License-Identifier: Apache-2.0

/** What the page and its server say to each other. JSON, no secret, dates as ISO texts. */

type Role = "controlplane" | "worker";

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
  readonly etcd: "leader" | "member" | "learner" | "unhealthy" | "waiting" | "down" | null;
}

/** A condition of the cluster, in the form and with the words of Kubernetes' conditions. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  /** One word in CamelCase. */
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  /** Whether this status is the good one: to have drifted is not. */
  readonly ok: boolean;
}

/** One of the checks of `talosctl health`, by its name there. */
export interface HealthCheck {
  readonly name: string;
  readonly state: "waiting" | "ok" | "skipped" | "failed";
  readonly reason: string | null;
}

interface EtcdMemberRow {
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

/** A step of an operation, and how far it has come. */
export interface OperationStep extends PlannedStep {
  readonly state: "planned" | "running" | "done" | "failed";
}

interface BackupRow {
  readonly id: string;
  readonly takenAt: string;
  readonly bytes: number;
  readonly revision: number;
  readonly hash: string;
  /** Whether the secrets lie beside it, encrypted. */
  readonly pki: boolean;
}

export interface BackupsView {
  readonly place: string;
  /** Newest first. */
  readonly backups: readonly BackupRow[];
  /** What is wrong: none yet, missed the schedule, or a place that cannot be read. */
  readonly problem: string | null;
}

export interface SimulatedRow {
  readonly name: string;
  /** As the simulator knows it, whatever the network says: off, booting, running … */
  readonly stage: string;
  readonly faults: readonly string[];
}

interface PoolRow {
  readonly name: string;
  readonly count: number;
}

export interface CertificateRow {
  readonly name: string;
  readonly expiresAt: string;
  readonly daysLeft: number;
}

/** Actions that change what the cluster consists of, through what manages it. */
export type ShapingKind = Extract<Action["kind"], "apply" | "upgrade" | "scale" | "destroy">;

/** One environment with what was last seen of its cluster. */
export interface ClusterView {
  readonly environment: string;
  readonly kind: string;
  readonly cluster: string;
  readonly talosVersion: string;
  readonly kubernetesVersion: string;
  readonly endpoint: string | null;
  /** `changing` is not healthy while something is at work on it. */
  readonly state: "healthy" | "changing" | "unhealthy" | "not deployed" | "unknown";
  /** Why it is in this state, when there is something to say. */
  readonly note: string | null;
  readonly seenAt: string | null;
  readonly machines: readonly MachineRow[];
  readonly conditions: readonly Condition[];
  readonly checks: readonly HealthCheck[];
  readonly etcd: EtcdView | null;
  /** What an apply would do now. */
  readonly pending: readonly PlannedStep[];
  /** What it would change in the configs of machines; those with the same changes stand together. */
  readonly differences: readonly MachineDifferences[];
  readonly certificates: readonly CertificateRow[];
  /** The control plane and the pools of workers, with the counts that the file asks for. */
  readonly pools: readonly PoolRow[];
  /** Null when the environment has no section `backup`. */
  readonly backups: BackupsView | null;
  /** Null unless the machines are simulated. */
  readonly simulated: readonly SimulatedRow[] | null;
  /** Why the cluster cannot be changed here, such as terraform that is missing; null where it can. */
  readonly obstacle: string | null;
}

/** An environment whose file has faults. */
export interface BrokenEnvironment {
  readonly environment: string;
  readonly fault: string;
}

/** What a person may have done to an environment. */
export type Action =
  | { readonly kind: "apply" }
  | { readonly kind: "destroy" }
  | { readonly kind: "upgrade"; readonly talosVersion?: string; readonly kubernetesVersion?: string }
  | { readonly kind: "scale"; readonly pool: string; readonly count: number }
  | { readonly kind: "backup" }
  | { readonly kind: "drill"; readonly backup: string }
  | { readonly kind: "reboot" | "cordon" | "uncordon" | "drain"; readonly machine: string };

type OperationKind = Action["kind"];

/** What a plan warns of. A danger may lose data, access or quorum. */
export interface PlanFinding {
  readonly level: "caution" | "danger";
  readonly title: string;
  readonly sentence: string;
}

export interface ActionPlan {
  /** The same for plans that do the same; a start that names it is refused when the plan has changed. */
  readonly id: string;
  /** What does the work: "terraform", "tofu" or "talosmith". */
  readonly manager: string;
  readonly steps: readonly PlannedStep[];
  readonly findings: readonly PlanFinding[];
  /** Such as machines that could not be observed. */
  readonly warnings: readonly string[];
  /** What has to be typed first, because data is lost; null when none is. */
  readonly confirm: string | null;
}

/** A cluster of simulated machines to begin with. */
export interface NewCluster {
  readonly name: string;
  readonly controlPlanes: number;
  readonly workers: number;
}

/** What is done to a simulated machine. A fault as `talosmith sim fault` takes it; null clears all. */
export type Disturbance = { readonly power: boolean } | { readonly fault: string | null };

export interface OperationEvent {
  readonly at: string;
  readonly type: string;
  readonly message: string;
  readonly machine: string | null;
  readonly step: string | null;
}

export interface OperationView {
  readonly id: string;
  /** What was asked for here; `terraform …` is a run of it that was started elsewhere, and can only be watched. */
  readonly kind: OperationKind | "terraform deploy" | "terraform destroy";
  /** The machine, pool or backup that it is about; null when it is about the whole. */
  readonly subject: string | null;
  readonly environment: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** `ended`: started elsewhere and killed there, so that it did not tell what came of it. */
  readonly state: "running" | "stopping" | "done" | "failed" | "stopped" | "ended";
  readonly steps: readonly OperationStep[];
  readonly events: readonly OperationEvent[];
  /** In words: what came of it, or what happened and how to go on. */
  readonly outcome: string | null;
}

/** Everything at once: sent whole on connecting, and again when something has changed. */
export interface Overview {
  readonly version: string;
  /** How a person types our name where this server was started. */
  readonly program: string;
  readonly readOnly: boolean;
  readonly clusters: readonly ClusterView[];
  readonly broken: readonly BrokenEnvironment[];
  /** Environments that nothing was seen of yet. */
  readonly unseen: readonly string[];
  readonly operations: readonly OperationView[];
  /** Kinds of faults that a simulated machine can be given. */
  readonly faults: readonly string[];
}

/** A field that differs between the active config and the desired one, secrets replaced. */
interface ConfigChange {
  readonly document: string;
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly reboot: boolean;
}

/** Between two configs: fields that differ, and a line on those that are only kept in another place. */
export interface ConfigDifferences {
  readonly changes: readonly ConfigChange[];
  readonly moved: string | null;
}

export interface MachineDifferences extends ConfigDifferences {
  readonly machines: readonly string[];
}

/** Where the machines are in the picture of the topology. */
export interface TopologyMap {
  readonly width: number;
  readonly height: number;
  /** The same for as long as the picture is. */
  readonly revision: string;
  readonly machines: readonly {
    readonly name: string;
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
  }[];
}

/** What a machine's page shows beyond its row, with what differs between its active config and the desired one. */
export interface MachineDetail extends ConfigDifferences {
  readonly name: string;
  /** Why there is nothing more to tell, when the machine cannot be asked. */
  readonly problem: string | null;
  readonly schematic: string | null;
  readonly services: readonly { readonly name: string; readonly state: string; readonly healthy: boolean | null }[];
  readonly addresses: readonly string[];
  readonly disks: readonly { readonly name: string; readonly size: string; readonly model: string }[];
  /** The active config with secrets replaced. */
  readonly config: string | null;
}
