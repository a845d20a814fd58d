// SPDX-License-Identifier: Apache-2.0

export { type Data as ConfigData, isData as isConfigData } from "../yaml/index.ts";
export {
  type ClusterConfig,
  type Cni,
  type MachineConfigInput,
  type MachineType,
  type StaticLink,
  schedulesOnControlPlanes,
} from "./cluster-config.ts";
export { cniIn, detectContract } from "./detect-contract.ts";
export { type Change, changedPlaces, configChange, diffConfigs, isUnset, movesInWords } from "./diff.ts";
export { deviceExpression, hardwareExpression, selectorExpression } from "./expressions.ts";
export { generateConfigWithFacts, generateMachineConfig } from "./generate/machine-config.ts";
export { MachineConfig } from "./machine-config.ts";
export { type Authority, type MachineFacts, machineFacts, readMachineFacts } from "./machine-facts.ts";
export { applyPatches, type Patch, parsePatch } from "./patch/apply.ts";
export { lineOfKey, type PatchPlace, patchSetting } from "./patch/places.ts";
export { type SecretInPatch, secretsInPatch } from "./patch/secrets-in-patch.ts";
export { patchOfFile } from "./patch-file.ts";
export { redactConfig, redacted } from "./redact.ts";
export { type ConfigRules, configRules, machineRules, observedRules } from "./rules.ts";
export { secretsFromConfig } from "./secrets-from-config.ts";
export { encodeTalosconfig, parseTalosconfig } from "./talosconfig/codec.ts";
export {
  addContext,
  changeContext,
  contextOf,
  type Merged,
  matchingContexts,
  mergeTalosconfigs,
  removeContexts,
  selectContext,
} from "./talosconfig/contexts.ts";
export {
  type CertificateInfo,
  type CredentialsOptions,
  certificateInfo,
  generateTalosconfig,
  issueAdminCredentials,
  parseLifetime,
  type TalosconfigOptions,
} from "./talosconfig/credentials.ts";
export {
  type ClientFile,
  clientIdentity,
  currentClientFiles,
  talosAccess,
  talosconfigIsCurrent,
} from "./talosconfig/current.ts";
export { findTalosconfig, readTalosconfig, talosconfigPaths, writeTalosconfig } from "./talosconfig/file.ts";
export type { ClientCredentials, TalosContext, Talosconfig } from "./talosconfig/talosconfig.ts";
export { type Role, roles } from "./talosconfig/talosconfig.ts";
export type { Finding, Finding as ConfigFinding } from "./validate/findings.ts";
export type { Mode } from "./validate/v1alpha1-machine.ts";
export { type ValidateOptions, type ValidationResult, validateConfig } from "./validate/validate.ts";
