// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import { type Arguments, type BindingMeta, Resource } from "../terraform/index.ts";
import type { MachineConfigSettings } from "./machine-config.ts";

export interface MemberArguments {
  readonly name: string;
  readonly cluster: string;
  /** What the membership lives and ends with. */
  readonly machine_id: string;
  readonly address: string;
  /** Through which the machine is reached, as in its cluster. */
  readonly talos_endpoints?: readonly string[];
  /** `api` or `user-data`, as in its cluster. */
  readonly config_source?: string;
  /** `leave`, `keep` or `prevent`. */
  readonly on_destroy?: string;
}

/** A machine's membership: made after the machine, destroyed before it, and the destroy does the leaving. */
export class MemberResource extends Resource<MemberArguments> {
  constructor(scope: Construct, id: string, args: MemberArguments, meta?: BindingMeta) {
    super(scope, id, "talosmith_member", args, meta);
  }
}

export interface SimulatedMachineArguments {
  readonly name: string;
  readonly cluster: string;
  readonly talos_version?: string;
}

/** A machine of the simulator. */
export class SimulatedMachineResource extends Resource<SimulatedMachineArguments> {
  constructor(scope: Construct, id: string, args: SimulatedMachineArguments, meta?: BindingMeta) {
    super(scope, id, "talosmith_simulated_machine", args, meta);
  }
}

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
