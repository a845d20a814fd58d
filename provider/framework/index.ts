// SPDX-License-Identifier: Apache-2.0

// For those who write a resource.
export type { Attribute, Attributes, BlockItems, ConfigOf, Nested, PlanOf, StateOf, Validator } from "./attribute.ts";
export * as attribute from "./attributes.ts";
export * as block from "./blocks.ts";
// For the protocol half.
export { Decimal, type NumberValue, numberFromDouble, numberText, parseNumber, shortest } from "./decimal.ts";
export {
  AttributePath,
  type Diagnostic,
  DiagnosticError,
  Diagnostics,
  type Finding,
  type PathStep,
  path,
} from "./diagnostics.ts";
export { type Json, parseJson, valueFromJson } from "./json.ts";
export {
  type Action,
  type ActionRequest,
  type DataSource,
  type EphemeralResource,
  FunctionError,
  type ListResource,
  type Parameter,
  type Provider,
  type ProviderFunction,
} from "./provider.ts";
export type {
  CreateRequest,
  Identity,
  ImportRequest,
  Log,
  Move,
  NamedType,
  Operation,
  PlanRequest,
  ReadRequest,
  Resource,
  StateRequest,
  UpdateRequest,
  ValidateRequest,
} from "./resource.ts";
export { applyResourceChange } from "./rpc/apply-resource-change.ts";
export { configureProvider, validateConfig } from "./rpc/configuration.ts";
export { identityOf, identityType, importIdOf, listResources, upgradeIdentity } from "./rpc/identity.ts";
export { invokeAction } from "./rpc/invoke-action.ts";
export { planResourceChange } from "./rpc/plan-resource-change.ts";
export {
  importResourceState,
  moveResourceState,
  openEphemeralResource,
  readDataSource,
  readResource,
  upgradeResourceState,
} from "./rpc/read-state.ts";
export { type Schema, schemaOf } from "./schema.ts";
export { Server } from "./server.ts";
export { checkDuration, type OperationClock, parseDuration } from "./timeouts.ts";
export * from "./value.ts";
