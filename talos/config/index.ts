// SPDX-License-Identifier: Apache-2.0
export {
  type ClusterConfig,
  type Cni,
  checkEndpoint,
  defaultInstallImage,
  type MachineConfigInput,
  type MachineType,
  type StaticLink,
  schedulesOnControlPlanes,
} from "./cluster-config.ts";
export { generateMachineConfig } from "./generate/machine-config.ts";
export { type Authority, type MachineFacts, readMachineFacts } from "./machine-facts.ts";
export { applyPatches, type Patch, parsePatch } from "./patch/apply.ts";
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
