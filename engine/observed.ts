// SPDX-License-Identifier: Apache-2.0
import type { EtcdMemberInfo, MachineStatus } from "../talos/api/index.ts";
import type { MachineConfig } from "../talos/config/index.ts";
import { schematicId } from "../talos/image/index.ts";
import type { MachineRole } from "./desired.ts";
import type { KubernetesComponent } from "./step.ts";

export type { Stage as MachineStage } from "../talos/api/index.ts";
export type EtcdMember = Pick<EtcdMemberInfo, "id" | "hostname" | "peerUrls" | "learner">;

/** etcd as one control plane sees it. */
export interface MachineEtcd {
  /** `waiting`: the service waits to be bootstrapped or to join, there is no data. `down`: it has or had data. */
  readonly state: "waiting" | "running" | "down";
  readonly healthy: boolean;
  readonly memberId?: string;
  readonly leaderId?: string;
  /** Empty unless the machine's own etcd answered. */
  readonly members: readonly EtcdMember[];
}

/** `clock`: it is not valid at this moment. `address`: it is for other addresses than the one it was reached by. */
interface CertificateFault {
  readonly kind: "clock" | "address";
  readonly hint: string;
}

/** What one machine is right now. Not reaching it is a value, not an exception. */
export type MachineState =
  | {
      readonly kind: "unreachable";
      readonly reason: string;
      /** It answers, between what it was and what it becomes: nothing is wrong with it. */
      readonly onItsWay?: true;
      /** Why its certificate cannot be accepted although it is of our CA; waiting seldom helps then. */
      readonly certificate?: CertificateFault;
    }
  /** It answers, but neither in maintenance mode nor with a certificate of our CA. */
  | { readonly kind: "foreign"; readonly reason: string }
  | {
      readonly kind: "maintenance";
      readonly fingerprint: string;
      /** What it was booted from, with a leading v; absent when it does not tell, as before 1.13. */
      readonly talosVersion?: string;
      /** Names of its disks, such as /dev/sda; absent when it does not tell. */
      readonly disks?: readonly string[];
    }
  | ConfiguredMachine;

export interface ConfiguredMachine {
  readonly kind: "configured";
  readonly stage: MachineStatus["stage"];
  readonly ready: boolean;
  readonly unmet: MachineStatus["unmet"];
  /** With a leading v. */
  readonly talosVersion: string;
  /** Id of the image factory's schematic that it runs, empty when it runs none; absent when it was not asked. */
  readonly schematic?: string;
  /** The active machine config; absent while the machine does not give it out. */
  readonly config?: MachineConfig;
  /** Changes with every boot. */
  readonly bootId: string;
  /** Then it cannot reboot or be upgraded by itself. @default false */
  readonly inContainer?: boolean;
  /** Values of the META partition by key in decimal; only of machines that should have some, and that tell. */
  readonly meta?: Readonly<Record<string, string>>;
  /** Control planes only. */
  readonly etcd?: MachineEtcd;
  /** Of the addresses that the control planes share, the one that this machine answers for now. */
  readonly sharedAddress?: string;
}

export interface ObservedMachine {
  readonly name: string;
  readonly role: MachineRole;
  readonly address: string;
  readonly state: MachineState;
}

export interface KubernetesNode {
  readonly name: string;
  readonly ready: boolean;
  /** Why it is not ready, in the kubelet's or the controllers' words. */
  readonly reason?: string;
  /** When its kubelet last said so, by its machine's clock and in whole seconds; absent where none ever did. */
  readonly reportedAt?: Date;
  readonly unschedulable: boolean;
  /** True when the cordon carries our mark, so that only we lift it. */
  readonly cordonedByUs: boolean;
  readonly controlPlane: boolean;
  /** Pool of the auto scaling group that has started its machine, as its label says. */
  readonly scalingPool?: string;
  readonly addresses: readonly string[];
  /** With a leading v. */
  readonly kubeletVersion: string;
}

export type ObservedKubernetes =
  | { readonly kind: "unreachable"; readonly reason: string }
  | {
      readonly kind: "reachable";
      readonly nodes: readonly KubernetesNode[];
      /** Of the kube-proxy that runs, without v; absent where there is none. */
      readonly proxyVersion?: string;
      /** The pods of the control planes' components; absent where they were not asked for. */
      readonly components?: readonly ObservedComponent[];
    };

/** What runs of a component of Kubernetes on a control plane. */
export interface ObservedComponent {
  readonly component: KubernetesComponent;
  readonly node: string;
  /** Without v; empty where the image's tag names none. */
  readonly version: string;
  readonly ready: boolean;
  /** Why its container does not run, in the kubelet's words. */
  readonly reason?: string;
}

/** One node as it is now; undefined when it has not registered. */
export type ObservedNode =
  | { readonly kind: "unreachable"; readonly reason: string }
  | { readonly kind: "reachable"; readonly node: KubernetesNode | undefined };

/** A whole cluster as it is now: every desired and every leaving machine, etcd and Kubernetes. */
export interface ObservedCluster {
  readonly machines: ReadonlyMap<string, ObservedMachine>;
  readonly kubernetes: ObservedKubernetes;
}

/** The schematic that an image of the image factory is made from; undefined for any other image. */
export function schematicOf(image: string): string | undefined {
  return /installer[a-z-]*\/([0-9a-f]{64})[:@]/.exec(image)?.[1];
}

/** The schematic that adds nothing to Talos. */
const plainSchematic = schematicId({});

/**
 * True when the image names a schematic and the machine tells that it runs another one. A machine that runs none, as
 * one in a container or from an image of one's own, lacks only what a schematic adds.
 */
export function runsOtherSchematic(image: string, { schematic }: Pick<ConfiguredMachine, "schematic">): boolean {
  const wanted = schematicOf(image);
  if (wanted === undefined || schematic === undefined) return false;
  return (schematic || plainSchematic) !== wanted;
}
