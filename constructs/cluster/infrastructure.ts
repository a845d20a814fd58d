// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import type { Kind, Role } from "../../model/index.ts";
import type { Platform, SchematicChoice } from "../../talos/image/index.ts";
import type { MachineConfigSettings } from "../talosmith/bindings.ts";
import type { Addressable, BindingMeta } from "../terraform/index.ts";
import type { Machine, MachineReference, MachineRows, MachineSet } from "./machine.ts";
import type { AddonProps, PoolSettingProps } from "./setting-props.ts";

/** A pool whose machines an infrastructure has to make. */
export interface PoolRequest<Settings> {
  /** Name of the cluster. */
  readonly clusterName: string;
  /** Talos release that the machines start with, such as `v1.13.9`. */
  readonly talosVersion: string;
  /** Version contract of their configs, such as `v1.13`. */
  readonly configContract: string;
  /** What is added to the Talos image. */
  readonly schematic: SchematicChoice;
  /** URL of an image factory. @default - the public one */
  readonly imageFactory?: string | undefined;
  /** Role of the machines. */
  readonly role: Role;
  /** The machines to make: one block of each resource makes all of them. */
  readonly rows: MachineRows;
  /** Config of this pool's machines, as a reference to text. Calling it puts the cluster's secrets into the state. */
  readonly machineConfig: () => string;
  /** @internal What the config of one of the machines follows from. Known when the stack is written, not before. */
  readonly configSettings: (at: MachineReference) => MachineConfigSettings;
  /** Meta-arguments of resources that need the cluster's secrets: the provider that has them. */
  readonly bindingMeta: BindingMeta;
  /** Labels and taints of its nodes, for an autoscaler that decides by them. */
  readonly nodes: Pick<PoolSettingProps, "labels" | "taints">;
  /** Settings that this infrastructure has for a pool: processors, memory, instance type … */
  readonly settings: Settings;
}

/** What the add-ons of an infrastructure depend on. */
export interface AddonRequest {
  /** Kubernetes version without `v`. */
  readonly kubernetesVersion: string;
  /** Number of control planes. */
  readonly controlPlanes: number;
}

/** What machines run on. It creates the machines of each pool; `TalosCluster` installs Talos and Kubernetes on them. */
export interface Infrastructure<Settings> {
  /** Its kind, as an environment file names it. @default - not recorded */
  readonly kind?: Kind;
  /** Its settings by the names that an environment file has for them; they are validated. @default - not validated */
  settings?(clusterName: string): object;
  /** Talos platform of its machines; decides which image they run. */
  readonly platform: Platform;
  /** Creates the machines of one pool below `scope`. Returns undefined when they come and go by themselves. */
  createMachines(scope: Construct, request: PoolRequest<Settings>): MachineSet | undefined;
  /** URL of the Kubernetes API, for a cluster that sets no `endpoint`. */
  endpoint(controlPlanes: readonly Machine[]): string;
  /** Names and addresses in the certificates of the Talos and Kubernetes APIs, in addition to the endpoint. */
  readonly certSans: readonly string[];
  /** Where the Talos API of all machines is reached. @default - at each machine's own address */
  readonly talosEndpoints?: readonly string[] | undefined;
  /** What all machines are reached through: created before they join, deleted after they are removed. @default - nothing */
  readonly reach?: Addressable;
  /** Whether a machine that moves to another pool stays the same machine. @default false */
  readonly machinesMove?: boolean;
  /** Whether only this machine can use the cluster, so that a missing kubeconfig here is a change. @default false */
  readonly onThisComputer?: boolean;
  /** Whether the initial config may be applied to whatever answers at a machine's address. */
  readonly trustOnFirstUse: boolean;
  /** How its machines get their initial config. One that has it as user-data stays off after it was removed. @default api */
  readonly configSource?: "api" | "user-data";
  /** Whether it refuses to delete machines, so that the cluster has to refuse it first. @default false */
  readonly deletionProtection?: boolean;
  /** Whether its `addons` have a cloud controller manager, which initializes the nodes. @default false */
  readonly cloudControllerManager?: boolean;
  /** Helm releases that it needs in the cluster: after the pod network, before all others. @default - none */
  addons?(cluster: AddonRequest): readonly AddonProps[];
  /** Disk that Talos is installed on. @default - Talos's default */
  readonly installDisk?: string;
}
