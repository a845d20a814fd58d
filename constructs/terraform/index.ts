// SPDX-License-Identifier: Apache-2.0
export type { AttributeValue } from "./attributes.ts";
export {
  type Addressable,
  type Arguments,
  type BindingMeta,
  DataSource,
  Provider,
  type ProviderDescription,
  Resource,
} from "./binding.ts";
export { jsonEncode, Milestone, projectPath, ReplacementTrigger, rootFromStack } from "./expressions.ts";
export { requireTerraform, TalosStack } from "./stack.ts";
