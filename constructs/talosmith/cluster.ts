// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import type { ArgumentsOf, clusterSettings, machineSettings, rolloutSettings } from "../../model/settings/index.ts";
import { type Arguments, type BindingMeta, Resource } from "../terraform/index.ts";

export interface ClusterArguments extends ArgumentsOf<typeof clusterSettings> {
  /** Machine name to machine. */
  readonly machines: { readonly [name: string]: ArgumentsOf<typeof machineSettings> };
  /** The control plane of another stack that these workers join. */
  readonly join?: { readonly control_planes: readonly string[] };
  /** Where the Talos API of all machines is reached, when it is not at each machine's own address. */
  readonly talos_endpoints?: readonly string[];
  /** Send the first config to machines whose fingerprint is not known. */
  readonly trust_on_first_use?: boolean;
  /** `api` or `user-data`: how machines get their initial config. */
  readonly config_source?: string;
  /** How careful changes of machines in use are. */
  readonly rollout?: ArgumentsOf<typeof rolloutSettings>;
  /** What the machines run on; never changes. */
  readonly infrastructure_kind?: string;
  /** `reset`, `keep` or `prevent`. */
  readonly on_destroy?: string;
}

/** A whole cluster: all of its machines in one resource. */
export class ClusterResource extends Resource<ClusterArguments> {
  constructor(scope: Construct, id: string, args: Arguments<ClusterArguments>, meta?: BindingMeta) {
    super(scope, id, "talosmith_cluster", args, meta);
  }

  get endpoint(): string {
    return this.getStringAttribute("endpoint");
  }
}
