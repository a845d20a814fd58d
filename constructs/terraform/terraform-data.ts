// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import type { AttributeValue } from "./attributes.ts";
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

/**
 * Changes with its value, so that a resource can be replaced rather than updated. Terraform's own `terraform_data`;
 * the CDK's class for it runs Terraform at synth.
 */
export class ReplacementTrigger extends Resource<{ readonly triggers_replace: AttributeValue }> {
  constructor(scope: Construct, id: string, value: AttributeValue) {
    super(scope, id, "terraform_data", { triggers_replace: value });
  }
}
