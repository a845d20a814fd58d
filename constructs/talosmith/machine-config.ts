// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import type { ArgumentsOf, clusterSettings } from "../../model/settings/index.ts";
import { type Arguments, type BindingMeta, DataSource } from "../terraform/index.ts";

/** What a config needs to know of its cluster, by the names that the cluster has for it. */
export type ClusterSettings = ArgumentsOf<typeof clusterSettings>;

export interface MachineConfigSettings extends ClusterSettings {
  readonly role: "controlplane" | "worker";
  readonly hostname?: string;
  readonly patches?: readonly string[];
  /** Files with further patches, which hold secrets. */
  readonly patch_files?: readonly string[];
}

export interface MachineConfigArguments extends MachineConfigSettings {
  /** Put the config into the state as it is, secrets and all: user-data cannot do without. */
  readonly include_secrets: true;
}

/** A machine config as text. */
export class MachineConfigDataSource extends DataSource<MachineConfigArguments> {
  constructor(scope: Construct, id: string, args: Arguments<MachineConfigArguments>, meta?: BindingMeta) {
    super(scope, id, "talosmith_machine_config", args, meta);
  }

  get config(): string {
    return this.getStringAttribute("config");
  }
}
