// SPDX-License-Identifier: Apache-2.0
// A door of its own: what environments are checked with at synth, without the rest of talos/config, which is slow to load.
export { type ConfigRules, machineRules, newestRules } from "../rules.ts";
export { findPatchFaults, type PatchFault } from "./faults.ts";
export { type SecretInPatch, secretsInPatch } from "./secrets-in-patch.ts";
