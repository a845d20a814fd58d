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
export { jsonEncode } from "./json-encode.ts";
export { Milestone } from "./milestone.ts";
export { projectPath, rootFromStack } from "./project-path.ts";
export { ReplacementTrigger } from "./replacement-trigger.ts";
export { requireTerraform, TalosStack } from "./stack.ts";
