// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import type { AttributeValue } from "./attributes.ts";
import { Resource } from "./binding.ts";

/**
 * Changes with its value, so that a resource can be replaced rather than updated. Terraform's own `terraform_data`;
 * the CDK's class for it runs Terraform at synth.
 */
export class ReplacementTrigger extends Resource<{ readonly triggers_replace: AttributeValue }> {
  constructor(scope: Construct, id: string, value: AttributeValue) {
    super(scope, id, "terraform_data", { triggers_replace: value });
  }
}
