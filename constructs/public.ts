// SPDX-License-Identifier: Apache-2.0
// What `import … from "talosmith/constructs"` gives: the constructs, and every type of their signatures. What the rest of
// talosmith needs besides is in index.ts. docs/api.md is made from this file; test/public-api.test.ts holds it together.
export type { NoCloudTemplates } from "../cloud-init/index.ts";
export type { Environment, Kind, Role, Size } from "../model/index.ts";
export type {
  AirGap,
  DiskEncryption,
  EncryptionKey,
  Firewall,
  FirewallRule,
  PatchesByMachine,
} from "../model/settings/index.ts";
export type { Architecture, Platform, SchematicChoice } from "../talos/image/index.ts";
export * from "./aws/index.ts";
export * from "./cluster/index.ts";
export * from "./container/index.ts";
export { EnvironmentStack } from "./environment-stack.ts";
export { ConstructInputError } from "./errors.ts";
export * from "./libvirt/index.ts";
export * from "./metal/index.ts";
export * from "./simulated/index.ts";
export type { ClientFiles } from "./talosmith/bindings.ts";
export {
  type Addressable,
  AnyResource,
  type Arguments,
  type AttributeValue,
  type BindingMeta,
  Resource,
  TalosStack,
} from "./terraform/index.ts";
