// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import { type BindingMeta, Resource } from "../terraform/index.ts";

export interface CloudInitArguments {
  /** Where the ISO is written, relative to the project's root. */
  readonly path: string;
  readonly meta_data: string;
  readonly network_config: string;
  /** @default - none: the machine waits in maintenance mode for its config */
  readonly user_data?: string;
}

/** A NoCloud seed as an ISO image on disk. */
export class CloudInitResource extends Resource<CloudInitArguments> {
  constructor(scope: Construct, id: string, args: CloudInitArguments, meta?: BindingMeta) {
    super(scope, id, "talosmith_cloud_init", args, meta);
  }
}
