// SPDX-License-Identifier: Apache-2.0
export {
  acceptedCas,
  type CaRotation,
  caFingerprint,
  knownFingerprints,
  type RotatedCa,
  type SecretsBundle,
  trustedCas,
} from "./bundle.ts";
export { encodeSecrets, parseSecrets } from "./codec.ts";
export { type EnsureOptions, ensureStored, findStored } from "./ensure.ts";
export { secretsExist } from "./file.ts";
export { createToken, generateSecrets, generateThrowawaySecrets } from "./generate.ts";
export { importKubeadmPki } from "./kubeadm.ts";
export { bundleFile, openProtectedText, openSecrets, protectionOf, storeOfFile } from "./open.ts";
export { hideSecrets } from "./redact.ts";
export { beginRotation, nextBundle } from "./rotation.ts";
export {
  createProtectedText,
  type FileStore,
  type KeptSecret,
  parseAgeIdentities,
  type SecretsStore,
  sealSecrets,
  secretsStore,
} from "./store.ts";
