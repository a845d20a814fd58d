// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import type { Role } from "../../model/index.ts";
import type { SchematicChoice } from "../../talos/image/index.ts";
import type { TalosVersion } from "../../talos/version/index.ts";
import type { MachineConfigSettings } from "../talosmith/index.ts";
import type { BindingMeta } from "../terraform/index.ts";
import type { Infrastructure } from "./infrastructure.ts";
import type { Machine } from "./machine.ts";

/** What a cluster needs to know of its pools. */
export interface MachinePool {
  readonly role: Role;
  /** How many machines were asked for, counting those that come and go by themselves. */
  readonly size: number;
  readonly machines: readonly Machine[];
  /** What it was given, with its name. */
  readonly settings: object;
  readonly patches: readonly string[];
}

/** What a pool needs to know of its cluster. */
export interface PoolOwner<Settings> extends Construct {
  readonly clusterName: string;
  readonly talosVersion: TalosVersion;
  readonly schematic: SchematicChoice;
  readonly imageFactory: string | undefined;
  readonly infrastructure: Infrastructure<Settings>;
  /** The provider that has the cluster's secrets. */
  readonly bindingMeta: BindingMeta;
  addPool(pool: MachinePool & Construct): void;
  /** A reference to the config of a pool's machines. */
  machineConfig(pool: MachinePool & Construct): string;
  /** What the config of a pool's machine follows from. */
  configSettings(pool: MachinePool, machine: Machine): MachineConfigSettings;
}
