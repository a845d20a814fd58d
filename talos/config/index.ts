// SPDX-License-Identifier: Apache-2.0
export {
  type ClusterConfig,
  type Cni,
  checkEndpoint,
  type MachineConfigInput,
  type MachineType,
  type StaticLink,
  schedulesOnControlPlanes,
} from "./cluster-config.ts";
export { type Change, diffConfigs } from "./diff.ts";
export { generateMachineConfig } from "./generate/machine-config.ts";
export { parseLifetime } from "./lifetime.ts";
export { type Authority, type MachineFacts, readMachineFacts } from "./machine-facts.ts";
export { applyPatches, type Patch, parsePatch } from "./patch/apply.ts";
export { redactConfig, redacted } from "./redact.ts";
export { secretsFromConfig } from "./secrets-from-config.ts";
export {
  type CredentialsOptions,
  encodeTalosconfig,
  generateTalosconfig,
  issueAdminCredentials,
  parseTalosconfig,
  type Role,
  roles,
  type TalosContext,
  type Talosconfig,
  type TalosconfigOptions,
} from "./talosconfig.ts";
export {
  changeContext,
  contextOf,
  type Merged,
  mergeTalosconfigs,
  removeContext,
  selectContext,
} from "./talosconfig-contexts.ts";
export { findTalosconfig, readTalosconfig, talosconfigPaths, writeTalosconfig } from "./talosconfig-file.ts";
export type { Mode } from "./validate/v1alpha1-machine.ts";
export { type ValidateOptions, type ValidationResult, validateConfig } from "./validate/validate.ts";
