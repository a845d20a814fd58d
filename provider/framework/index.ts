// SPDX-License-Identifier: Apache-2.0

// For those who write a resource.
export type {
  Attribute,
  Attributes,
  BlockItems,
  ConfigOf,
  MaybeUnknown,
  Mode,
  Nested,
  PlanOf,
  StateOf,
  Validator,
} from "./attribute.ts";
export { AttributePath, type PathStep, path } from "./attribute-path.ts";
export * as attribute from "./attributes.ts";
export * as block from "./blocks.ts";
export type { DataRequest, DataSource } from "./data-source.ts";
// For the protocol half.
export { Decimal, type NumberValue, numberFromDouble, numberText, parseNumber, shortest } from "./decimal.ts";
export { type Diagnostic, DiagnosticError, Diagnostics, type ErrorTranslator, type Finding } from "./diagnostics.ts";
export { checkDuration, parseDuration } from "./duration.ts";
export type { EphemeralResource } from "./ephemeral-resource.ts";
export { FunctionError, type Parameter, type ProviderFunction } from "./function.ts";
export { parseJson, valueFromJson } from "./json.ts";
export type { Log, LogFields, LogLevel } from "./log.ts";
export type { OperationClock } from "./operation-clock.ts";
export type { ConfigureRequest, Provider } from "./provider.ts";
export type {
  CreateRequest,
  ImportRequest,
  Operation,
  PlanRequest,
  PlanResult,
  Resource,
  StateRequest,
  UpdateRequest,
  ValidateRequest,
} from "./resource.ts";
export { applyResourceChange } from "./rpc/apply-resource-change.ts";
export { argumentTypes, callFunction } from "./rpc/call-function.ts";
export { configureProvider } from "./rpc/configure-provider.ts";
export { getProviderSchema } from "./rpc/get-provider-schema.ts";
export { importResourceState } from "./rpc/import-resource-state.ts";
export { openEphemeralResource } from "./rpc/open-ephemeral-resource.ts";
export { planResourceChange } from "./rpc/plan-resource-change.ts";
export { readDataSource } from "./rpc/read-data-source.ts";
export { readResource } from "./rpc/read-resource.ts";
export { upgradeResourceState } from "./rpc/upgrade-resource-state.ts";
export { validateDataResourceConfig } from "./rpc/validate-data-resource-config.ts";
export { validateEphemeralResourceConfig } from "./rpc/validate-ephemeral-resource-config.ts";
export { validateProviderConfig } from "./rpc/validate-provider-config.ts";
export { validateResourceConfig } from "./rpc/validate-resource-config.ts";
export { type Schema, schemaOf } from "./schema.ts";
export { Server } from "./server.ts";
export {
  boolType,
  dynamicType,
  listOf,
  mapOf,
  numberType,
  objectOf,
  setOf,
  stringType,
  type Type,
  typeFromJson,
  typeToJson,
} from "./type.ts";
export {
  Dynamic,
  elementType,
  isList,
  isNumber,
  isObject,
  isUnknown,
  isWhollyKnown,
  type NumberBound,
  type ObjectValue,
  objectValue,
  type Refinement,
  Unknown,
  unknown,
  type Value,
  valuesEqual,
} from "./value.ts";
