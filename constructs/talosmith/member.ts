// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import { type BindingMeta, Resource } from "../terraform/index.ts";

export interface MemberArguments {
  readonly name: string;
  readonly cluster: string;
  /** What the membership lives and ends with. */
  readonly machine_id: string;
  readonly address: string;
  /** Through which the machine is reached, as in its cluster. */
  readonly talos_endpoints?: readonly string[];
  /** `leave`, `keep` or `prevent`. */
  readonly on_destroy?: string;
}

/** A machine's membership: made after the machine, destroyed before it, and the destroy does the leaving. */
export class MemberResource extends Resource<MemberArguments> {
  constructor(scope: Construct, id: string, args: MemberArguments, meta?: BindingMeta) {
    super(scope, id, "talosmith_member", args, meta);
  }
}
