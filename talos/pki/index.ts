// SPDX-License-Identifier: Apache-2.0
export {
  backdated,
  belongTogether,
  createCertificateAuthority,
  issueCertificate,
  type KeyPair,
  type LeafOptions,
  loadCertificate,
  publicKeyFingerprint,
} from "./certificate.ts";
export { checkKey, createRsaKey, keyForNode } from "./key.ts";
export { decodePem, encodePem, fromBase64, pemBlocks, toBase64 } from "./pem.ts";
