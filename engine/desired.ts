// SPDX-License-Identifier: Apache-2.0
import { type ClusterConfig, MachineConfig, type MachineConfigInput, type PatchPlace } from "../talos/config/index.ts";
import { TalosError } from "../talos/errors.ts";
import type { Contract, TalosVersion } from "../talos/version/index.ts";

export type MachineRole = "controlplane" | "worker";

/** A machine as the user wishes it. Its name is also its host name and its name in Kubernetes. */
export interface MachineSpec extends Omit<MachineConfigInput, "type" | "hostname"> {
  readonly name: string;
  readonly role: MachineRole;
  /** IP address or host name where the Talos API answers, optionally with a port. */
  readonly address: string;
  /** Fingerprint of the maintenance certificate, as `talosctl --cert-fingerprint` takes it. */
  readonly fingerprint?: string;
  /** Values of the META partition by key in decimal; an empty text takes a value away. @default none */
  readonly meta?: Readonly<Record<string, string>>;
  /** Pool of an auto scaling group that has started it: it names itself, and control planes pass calls on to it. @default none */
  readonly scalingPool?: string;
}

/** What the machines that an auto scaling group starts have in common. */
export interface ScalingPool {
  /** Config patches, as in a machine. @default none */
  readonly patches?: NonNullable<MachineSpec["patches"]>;
}

/** Tells where a person wrote a setting of a patch; undefined where that is not known. */
export type PatchOrigin = (place: PatchPlace) => string | undefined;

/** How machines get their initial config. */
export type ConfigSource = "api" | "user-data";

/** A whole cluster as the user wishes it: the options of every machine's config, and the machines. */
export interface ClusterSpec extends Omit<ClusterConfig, "clusterName" | "contract"> {
  readonly name: string;
  /** Of all configs, whichever Talos runs them. */
  readonly contract: Contract;
  /** The contract from which a person has migrated. @default none: machines with configs of another contract are refused */
  readonly previousContract?: Contract;
  readonly machines: readonly MachineSpec[];
  /** Pools of auto scaling groups by name; `findPoolMachines` finds their machines. @default none */
  readonly scalingPools?: Readonly<Record<string, ScalingPool>>;
  /** Config patches by role; those for all machines come first. */
  readonly patches?: {
    readonly all?: readonly string[];
    readonly controlPlane?: readonly string[];
    readonly worker?: readonly string[];
  };
  /** Where the Talos API of all machines is reached. @default each machine's own address */
  readonly talosEndpoints?: readonly string[];
  /** Refuse to remove machines and to destroy the cluster. @default false */
  readonly deletionProtection?: boolean;
  /** Apply the initial config to machines without a fingerprint, whatever answers at their addresses. @default false */
  readonly trustOnFirstUse?: boolean;
  /** `user-data`: machines read their config from user-data or a seed, whenever they have none. @default api */
  readonly configSource?: ConfigSource;
  /** Where a person wrote what a patch sets, such as `environments/lab.yaml:12`, for messages. @default it is not named */
  readonly placeOf?: PatchOrigin;
  /** Machines that should leave the cluster: drained, out of etcd, reset, their Nodes deleted. @default none */
  readonly leaving?: readonly MachineSpec[];
}

/** A machine with its rendered config. */
export interface DesiredMachine {
  readonly name: string;
  readonly role: MachineRole;
  readonly address: string;
  readonly fingerprint?: string;
  readonly config: MachineConfig;
  /** The patches that are in it, in their order. Secret. @default none */
  readonly patches?: readonly string[];
  /** Installer image that the config names, for upgrades. */
  readonly installImage: string;
  /** Device that the config installs to; absent where it selects one by other means. */
  readonly installDisk?: string;
  /** As in the spec. */
  readonly meta?: Readonly<Record<string, string>>;
  /** As in the spec. */
  readonly scalingPool?: string;
}

/** Of a machine that is used as it is, or that nothing is known of yet: no config to apply or to compare with. */
export const withoutConfig: Pick<DesiredMachine, "config" | "installImage"> = {
  config: new MachineConfig(""),
  installImage: "",
};

/** A machine that should not be part of the cluster any more. */
export interface LeavingMachine {
  readonly name: string;
  readonly role: MachineRole;
  readonly address: string;
}

/** Everything the engine needs to know about where a cluster should be. */
export interface DesiredCluster {
  readonly name: string;
  /** URL of the Kubernetes API. */
  readonly endpoint: string;
  readonly talosVersion: TalosVersion;
  /** As in the spec. */
  readonly contract: Contract;
  /** As in the spec. */
  readonly previousContract?: Contract;
  /**
   * Control planes, or what stands before them, that pass calls on to every machine; for machines that can't be reached
   * at their own addresses. They pass nothing on to a machine without a config. @default each machine's own address
   */
  readonly talosEndpoints?: readonly string[];
  /** Whether a machine without a fingerprint gets its initial config, which holds secrets, at its first answer. */
  readonly trustOnFirstUse: boolean;
  /** As in the spec. */
  readonly configSource?: ConfigSource;
  /** Without a leading v. */
  readonly kubernetesVersion: string;
  /** False without a network plugin: the nodes register, but stay not ready until someone installs one. */
  readonly nodesBecomeReady: boolean;
  /** Control planes first, each role sorted by name. */
  readonly machines: readonly DesiredMachine[];
  readonly leaving: readonly LeavingMachine[];
  /** As in the spec. */
  readonly placeOf?: PatchOrigin;
  /** Removing machines and destroying the cluster are refused. @default false */
  readonly deletionProtection?: boolean;
  /** Public, stable name of the Talos CA that the machines trust. */
  readonly caFingerprint: string;
}

/** The machine that starts etcd: always the first control plane by name, so that two runners choose the same one. */
export function bootstrapTarget(desired: Pick<DesiredCluster, "machines">): string {
  const first = desired.machines.find((machine) => machine.role === "controlplane");
  if (first === undefined) throw new TalosError("invalid-input", "a cluster needs at least one control plane");
  return first.name;
}
