// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import type { AttributeValue } from "./attributes.ts";
import { type BindingMeta, Resource } from "./binding.ts";

/** From a stack's folder, cdktf.out/stacks/<name>, to the project's root. */
export const rootFromStack = "../../../";

/** A file of the project as Terraform finds it from the stack's folder. URLs and absolute paths stay as they are. */
export function projectPath(path: string): string {
  return /^([a-z][a-z0-9+.-]*:\/\/|\/)/i.test(path) ? path : `${rootFromStack}${path.replace(/^\.\//, "")}`;
}

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
  constructor(scope: Construct, id: string, value: AttributeValue, meta?: BindingMeta) {
    super(scope, id, "terraform_data", { triggers_replace: value }, meta);
  }
}
