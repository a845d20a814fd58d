// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import { type Arguments, type BindingMeta, Resource } from "../terraform/index.ts";

export interface AddonArguments {
  /** Name of the Helm release. */
  readonly name: string;
  readonly namespace: string;
  /** Addresses of the control planes. */
  readonly endpoints: readonly string[];
  readonly chart: string;
  readonly repository?: string | undefined;
  readonly version?: string | undefined;
  /** YAML texts; they are in plan and state. */
  readonly values?: readonly string[] | undefined;
  /** Relative to the project's root; only their hash is in plan and state. */
  readonly values_files?: readonly string[] | undefined;
  readonly credentials?:
    | {
        readonly username: string;
        readonly password_env?: string | undefined;
        readonly password_file?: string | undefined;
      }
    | undefined;
  readonly cni?: boolean | undefined;
  readonly wait?: boolean | undefined;
  readonly timeout?: string | undefined;
  readonly on_destroy?: string | undefined;
}

/** A Helm release. */
export class AddonResource extends Resource<AddonArguments> {
  constructor(scope: Construct, id: string, args: Arguments<AddonArguments>, meta?: BindingMeta) {
    super(scope, id, "talosmith_addon", args, meta);
  }
}
