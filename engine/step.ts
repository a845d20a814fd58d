// SPDX-License-Identifier: Apache-2.0
import { shortImage } from "../talos/image/index.ts";
import { oneLine } from "../talos/plain-text.ts";
import { KubernetesVersion } from "../talos/version/index.ts";
import { describeDuration } from "./execute/wait.ts";

export type KubernetesComponent =
  | "kube-apiserver"
  | "kube-controller-manager"
  | "kube-scheduler"
  | "kube-proxy"
  | "kubelet";

/** Those that run as static pods of the control planes. */
export const staticPodComponents = [
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
] as const satisfies readonly KubernetesComponent[];

/** What a step does. Names of machines, never addresses or secrets: a plan may be printed and stored. */
interface VersionChange {
  readonly from: string;
  readonly to: string;
}

export type StepAction =
  /** `reboot`: whether the change needs one; first contact in maintenance mode is `install`. */
  /** `trust`: the machine is in maintenance mode, and its certificate is not pinned. */
  | {
      readonly kind: "apply-config";
      readonly machine: string;
      readonly effect: "install" | "no-reboot" | "reboot";
      readonly trust?: "first-use";
      readonly sharedAddress?: string;
    }
  | { readonly kind: "write-meta"; readonly machine: string; readonly keys: readonly number[] }
  | { readonly kind: "bootstrap-etcd"; readonly machine: string }
  | { readonly kind: "join-etcd"; readonly machine: string }
  | { readonly kind: "join-kubernetes"; readonly machine: string }
  | { readonly kind: "remove-etcd-member"; readonly machine: string; readonly memberId: string }
  | { readonly kind: "forfeit-leadership"; readonly machine: string }
  /** Fetches what an upgrade needs while nothing has been disturbed yet. */
  | { readonly kind: "pull-installer"; readonly machine: string; readonly image: string }
  | { readonly kind: "pull-images"; readonly machine: string; readonly images: readonly WantedImage[] }
  | { readonly kind: "drain"; readonly machine: string }
  /** As `kubectl cordon`: a person's, which no run of ours lifts. */
  | { readonly kind: "cordon"; readonly machine: string }
  /** `anyones`: also a cordon that is not ours. */
  | { readonly kind: "uncordon"; readonly machine: string; readonly anyones?: true }
  | { readonly kind: "reboot"; readonly machine: string }
  /** Before the machine's hardware is changed from outside. */
  | { readonly kind: "shut-down"; readonly machine: string }
  /** After that: until the machine runs again. */
  | { readonly kind: "await-boot"; readonly machine: string }
  /** `graceful`: the machine leaves etcd and drains itself before it wipes its disk. `staysOff`: it does not boot again, for people. */
  | { readonly kind: "reset"; readonly machine: string; readonly graceful: boolean; readonly staysOff: boolean }
  | { readonly kind: "delete-node"; readonly machine: string }
  /** Throws etcd's data away and keeps the config. */
  | { readonly kind: "wipe-etcd"; readonly machine: string }
  /** `snapshot`: the file that etcd starts from. */
  | { readonly kind: "restore-etcd"; readonly machine: string; readonly snapshot: string }
  | {
      readonly kind: "upgrade-talos";
      readonly machine: string;
      /** Versions with v; the same when only the schematic changes. */
      readonly from: string;
      readonly to: string;
      readonly image: string;
      /** An address of all control planes that the machine answers for, and which is away while it is down. */
      readonly sharedAddress?: string;
    }
  | {
      readonly kind: "upgrade-kubernetes";
      readonly machine: string;
      readonly component: KubernetesComponent;
      readonly from: string;
      readonly to: string;
      readonly sharedAddress?: string;
    }
  /** Before an upgrade goes on that was stopped: what has its new version already must be ready. */
  | {
      readonly kind: "await-components";
      readonly machine: string;
      readonly components: readonly { readonly component: KubernetesComponent; readonly version: string }[];
    }
  /** Brings the cluster's own objects, such as kube-proxy, to what this control plane's manifests say. */
  | {
      readonly kind: "sync-manifests";
      readonly machine: string;
      /** The kube-proxy that runs and the one that the manifests have, where they differ and both are known. */
      readonly proxy?: VersionChange;
    }
  /** Replaces the pods of Talos's own workloads, so that they trust this CA of Kubernetes (PEM, public). */
  | { readonly kind: "restart-workloads"; readonly machine: string; readonly ca: string }
  /** Before anything is done to a machine in use: is it time, and do the policy's gates pass? */
  | {
      readonly kind: "gate";
      readonly machine: string;
      readonly before: GatedWork;
      readonly windows: number;
      readonly gates: number;
    }
  /** After the first machines of a change; `change` tells it from other changes. */
  | {
      readonly kind: "pause";
      readonly machine: string;
      readonly change: string;
      readonly canaries: readonly string[];
      readonly soak: number;
      readonly afterwards: "stop" | "continue";
    };

/** What a gate is before. */
export type GatedWork = "change" | "leave" | KubernetesComponent;

export type StepKind = StepAction["kind"];

export type Step = StepAction & {
  /** Unique in its plan and the same in every plan for the same work, such as `bootstrap-etcd/cp-1`. */
  readonly id: string;
  /** One sentence for a person. */
  readonly sentence: string;
  /** Ids of the steps that must be finished first. Steps without an order between them run side by side. */
  readonly after: readonly string[];
  /** True when data is lost for good: resets, members removed. */
  readonly destructive: boolean;
};

/** Whether the machine is away for a while because of the step. */
export function reboots(step: Step): boolean {
  if (step.kind === "apply-config") return step.effect === "reboot";
  return step.kind === "upgrade-talos" || step.kind === "reboot" || step.kind === "wipe-etcd";
}

/** A step of one kind. */
export type StepOf<K extends StepKind> = Extract<Step, { readonly kind: K }>;

const destructiveKinds: ReadonlySet<StepKind> = new Set(["reset", "remove-etcd-member", "delete-node", "wipe-etcd"]);

export function step(action: StepAction, after: readonly string[] = []): Step {
  return {
    ...action,
    id: stepId(action),
    // A place in a config may be named by the machine that has it.
    sentence: oneLine(`${sentenceOf(action)}${holderNote(action)}`),
    after,
    destructive: destructiveKinds.has(action.kind),
  };
}

export function stepId(action: StepAction): string {
  switch (action.kind) {
    case "upgrade-kubernetes":
      return `upgrade-${action.component}/${action.machine}`;
    case "remove-etcd-member":
      return `remove-etcd-member/${action.machine}/${action.memberId}`;
    case "gate":
      return `gate/${action.machine}/${action.before}`;
    case "pause":
      return `pause/${action.change}`;
    default:
      return `${action.kind}/${action.machine}`;
  }
}

/** Why the machine comes last, and what to expect meanwhile. */
function holderNote(action: StepAction): string {
  if (!("sharedAddress" in action) || action.sharedAddress === undefined) return "";
  return ` (last of the control planes, because ${action.sharedAddress} is on it)`;
}

function sentenceOf(action: StepAction): string {
  switch (action.kind) {
    case "apply-config":
      return {
        install: `apply initial config to ${action.machine}${action.trust === undefined ? "" : " (trust on first use: its certificate is not pinned)"}`,
        "no-reboot": `apply config to ${action.machine} without a reboot`,
        reboot: `apply config to ${action.machine} and reboot it`,
      }[action.effect];
    case "write-meta":
      return `write META ${action.keys.length === 1 ? "key" : "keys"} ${action.keys.join(", ")} on ${action.machine}`;
    case "bootstrap-etcd":
      return `bootstrap etcd on ${action.machine}`;
    case "join-etcd":
      return `wait for etcd on ${action.machine}`;
    case "join-kubernetes":
      return `wait for Kubernetes node ${action.machine}`;
    case "remove-etcd-member":
      return `remove dead etcd member ${action.memberId} of ${action.machine}`;
    case "forfeit-leadership":
      return `transfer etcd leadership away from ${action.machine}`;
    case "pull-installer":
      return `pull ${shortImage(action.image)} on ${action.machine}`;
    case "pull-images":
      return `pull Kubernetes images on ${action.machine}`;
    case "sync-manifests":
      if (action.proxy !== undefined && isRollback(action.proxy))
        return `roll back kube-proxy from ${action.proxy.from} to ${action.proxy.to} and update DNS and network by the manifests of ${action.machine}`;
      return `update kube-proxy, DNS and network by the manifests of ${action.machine}`;
    case "restart-workloads":
      return "restart kube-proxy, DNS and the pod network of the cluster, so that they trust the new CA of Kubernetes";
    case "drain":
      return `drain ${action.machine}`;
    case "cordon":
      return `cordon ${action.machine}`;
    case "reboot":
      return `reboot ${action.machine}`;
    case "shut-down":
      return `shut down ${action.machine}`;
    case "await-boot":
      return `wait for ${action.machine} to boot`;
    case "uncordon":
      return `uncordon ${action.machine}`;
    case "reset":
      return resetSentence(action);
    case "wipe-etcd":
      return `wipe etcd data of ${action.machine}`;
    case "restore-etcd":
      return `restore etcd on ${action.machine} from the backup`;
    case "delete-node":
      return `delete Kubernetes node ${action.machine}`;
    case "upgrade-talos":
      return action.from === action.to
        ? `install ${shortImage(action.image)} on ${action.machine}`
        : `upgrade Talos on ${action.machine} from ${action.from} to ${action.to}`;
    case "upgrade-kubernetes":
      return `${isRollback(action) ? "roll back" : "upgrade"} ${action.component} on ${action.machine} from ${action.from} to ${action.to}`;
    case "await-components":
      return `wait for ${action.components.map(({ component, version }) => `${component} ${version}`).join(", ")} on ${action.machine}`;
    case "gate":
      return gateSentence(action);
    case "pause":
      return pauseSentence(action);
  }
}

/** Whether the step takes a component to an older version. */
export function isRollback({ from, to }: VersionChange): boolean {
  return KubernetesVersion.parse(from).compare(KubernetesVersion.parse(to)) > 0;
}

function gateSentence({ machine, before, windows, gates }: Extract<StepAction, { kind: "gate" }>): string {
  const conditions: string[] = [];
  if (windows > 0) conditions.push("a maintenance window is open");
  if (gates > 0) conditions.push(gates === 1 ? "the gate passes" : `all ${gates} gates pass`);
  const what = { change: machine, leave: `the removal of ${machine}` }[before as string] ?? `${before} on ${machine}`;
  return `start ${what} only when ${conditions.join(" and ")}`;
}

function pauseSentence({ canaries, soak, afterwards }: Extract<StepAction, { kind: "pause" }>): string {
  const watched = soak === 0 ? [] : [`watch ${canaries.join(", ")} for ${describeDuration(soak)}`];
  return [...watched, afterwards === "stop" ? `stop after ${canaries.join(", ")} until the next run` : "continue"].join(
    ", then ",
  );
}

/** Machines that do not exist yet, in the form of steps. Their own steps are computed once they exist. */
export function creationSteps(
  names: readonly string[],
): readonly Pick<Step, "id" | "sentence" | "destructive" | "machine">[] {
  return names.map((machine) => ({
    id: `create/${machine}`,
    sentence: `create machine ${machine}`,
    destructive: false,
    machine,
  }));
}

/** An image that a machine should have before it is needed. */
export interface WantedImage {
  readonly image: string;
  /** `system`: Talos's own, such as the installer and the kubelet. `cri`: what pods run from. */
  readonly namespace: "system" | "cri";
}

function resetSentence({ machine, graceful, staysOff }: Extract<StepAction, { kind: "reset" }>): string {
  if (!graceful) return `wipe the disk of ${machine}${staysOff ? " and leave it powered off" : ""}`;
  const out = `remove ${machine} from the cluster`;
  return staysOff ? `${out}, wipe its disk and leave it powered off` : `${out} and wipe its disk`;
}
