// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import type { Kind } from "../../model/index.ts";
import type { Platform, SchematicChoice } from "../../talos/image/index.ts";
import type { TalosVersion } from "../../talos/version/index.ts";
import type { MachineConfigSettings } from "../talosmith/index.ts";
import type { Addressable, BindingMeta } from "../terraform/index.ts";
import type { Machine, MachineRequest } from "./machine.ts";

export interface PoolRequest<Settings> {
  readonly clusterName: string;
  readonly talosVersion: TalosVersion;
  /** What is added to the image. */
  readonly schematic: SchematicChoice;
  /** URL of an image factory in place of the public one. */
  readonly imageFactory?: string | undefined;
  readonly machines: readonly MachineRequest[];
  /** The config of this pool's machines as text, a reference. Asking for it puts secrets into the state. */
  readonly machineConfig: () => string;
  /** What the config of one of the machines follows from. Known when the stack is written, not before. */
  readonly configSettings: (machine: Machine) => MachineConfigSettings;
  /** For resources that make such a config: the provider that has the cluster's secrets. */
  readonly bindingMeta: BindingMeta;
  /** What this infrastructure lets a pool say: processors, memory, instance type … */
  readonly settings: Settings;
}

/** Where machines come from. It yields machines; what to install on them is the cluster's business. */
export interface Infrastructure<Settings> {
  /** What it is, as an environment file names it. @default - not recorded */
  readonly kind?: Kind;
  /** What it was given, as an environment file has it, with this cluster's machines. @default - nothing that is checked */
  settings?(clusterName: string): object;
  /** Which of Talos's images its machines run. */
  readonly platform: Platform;
  /** Makes the machines of one pool below `scope`. Machines that come and go by themselves are not among the result. */
  createMachines(scope: Construct, request: PoolRequest<Settings>): readonly Machine[];
  /** URL of the Kubernetes API, when the cluster is given none. */
  endpoint(controlPlanes: readonly Machine[]): string;
  /** Names and addresses that must stand in the API certificates besides the endpoint. */
  readonly certSans: readonly string[];
  /** Where the Talos API of all machines is reached. @default - at each machine's own address */
  readonly talosEndpoints?: readonly string[] | undefined;
  /** What all machines are reached through: there before they join, and until they have left. @default - nothing */
  readonly reach?: Addressable;
  /** True when only this computer can use the cluster, so that its client files belong on this disk. @default false */
  readonly onThisComputer?: boolean;
  /** True when the initial config may go to whatever answers at a machine's address, because somebody has chosen that. */
  readonly trustOnFirstUse: boolean;
  /** True when it refuses to delete machines, so that the cluster has to refuse it first. @default false */
  readonly deletionProtection?: boolean;
  /** The disk that Talos is installed on. @default - Talos's own */
  readonly installDisk?: string;
}
