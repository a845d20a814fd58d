// SPDX-License-Identifier: Apache-2.0
export {
  type AuthorityOptions,
  belongTogether,
  createCertificateAuthority,
  issueCertificate,
  type KeyPair,
  type LeafOptions,
  type LeafTerms,
  loadCertificate,
  publicKeyFingerprint,
} from "./certificate.ts";
export type { AlternativeNames, ExtendedUsage, KeyUsage } from "./extensions.ts";
export { checkKey, createRsaKey, type KeyKind, keyForNode } from "./key.ts";
export { decodePem, encodePem, fromBase64, pemBlocks, toBase64 } from "./pem.ts";
export type { Subject } from "./subject.ts";
