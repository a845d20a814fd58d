// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import { Resource } from "./binding.ts";

/**
 * A point in the order of things: what it depends on is there before what depends on it, and goes after it. One name
 * for a long list. Terraform's own `terraform_data`; see ReplacementTrigger.
 */
export class Milestone extends Resource<Record<never, never>> {
  constructor(scope: Construct, id: string) {
    super(scope, id, "terraform_data", {});
  }
}
