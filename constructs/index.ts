// SPDX-License-Identifier: Apache-2.0
export { backendKey } from "./backend.ts";
export * from "./hcl/index.ts";
export * from "./public.ts";
export { encryptionFile, encryptionFileName } from "./state-encryption.ts";
export { type SynthResult, synthesize } from "./synthesize.ts";
export { writeWhole } from "./write-whole.ts";
