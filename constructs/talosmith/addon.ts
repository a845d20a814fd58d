// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import type { ArgumentsOf, addonSettings } from "../../model/settings/index.ts";
import { type Arguments, type BindingMeta, Resource } from "../terraform/index.ts";

export interface AddonArguments extends ArgumentsOf<typeof addonSettings> {
  /** Addresses of the control planes. */
  readonly endpoints: readonly string[];
  /** YAML texts; they are in plan and state. */
  readonly values?: readonly string[];
  readonly on_destroy?: string;
}

/** A Helm release. */
export class AddonResource extends Resource<AddonArguments> {
  constructor(scope: Construct, id: string, args: Arguments<AddonArguments>, meta?: BindingMeta) {
    super(scope, id, "talosmith_addon", args, meta);
  }
}
