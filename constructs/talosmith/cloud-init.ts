// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import { type Arguments, type BindingMeta, Resource } from "../terraform/index.ts";
import type { MachineConfigSettings } from "./machine-config.ts";

export interface CloudInitArguments {
  /** Where the ISO is written, relative to the project's root. */
  readonly path: string;
  readonly meta_data: string;
  readonly network_config: string;
  /** @default - none: the machine waits in maintenance mode for its config */
  readonly user_data?: string;
  /** What a config for user-data follows from, together with the provider's secrets, which stay out of the state. */
  readonly machine_config?: MachineConfigSettings;
}

/** A NoCloud seed as an ISO image on disk. */
export class CloudInitResource extends Resource<CloudInitArguments> {
  constructor(scope: Construct, id: string, args: Arguments<CloudInitArguments>, meta?: BindingMeta) {
    super(scope, id, "talosmith_cloud_init", args, meta);
  }
}
