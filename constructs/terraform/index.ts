// SPDX-License-Identifier: Apache-2.0
export { type AttributeValue, composed, expression, late, type Print } from "./attributes.ts";
export {
  type Addressable,
  AnyResource,
  type Arguments,
  type BindingMeta,
  DataSource,
  Provider,
  Resource,
} from "./binding.ts";
export { Milestone, projectPath, ReplacementTrigger, rootFromStack } from "./expressions.ts";
export { aliasUnlessFirst, chooseProvider, providerFor } from "./provider-choice.ts";
export { addressName, requireTerraform, TalosStack } from "./stack.ts";
