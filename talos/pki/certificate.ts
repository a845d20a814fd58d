// SPDX-License-Identifier: Apache-2.0
import { createHash, type KeyObject, X509Certificate } from "node:crypto";
import type { Clock, Entropy } from "../clock.ts";
import { TalosError } from "../errors.ts";
import { isGiven } from "../given.ts";
import {
  bitString,
  children,
  content,
  type Der,
  decode,
  dottedIdentifier,
  encode,
  explicit,
  sequence,
  time,
  unsignedInteger,
} from "./der.ts";
import {
  type AlternativeNames,
  alternativeNames,
  authorityConstraints,
  authorityKeyIdentifier,
  type ExtendedUsage,
  extendedKeyUsage,
  extensionIdentifier,
  type KeyUsage,
  keyUsage,
  subjectKeyIdentifier,
} from "./extensions.ts";
import { createKey, type KeyKind, keyKind, loadKey, publicKeyInfo, signatureAlgorithm, signBytes } from "./key.ts";
import { decodePem, encodePem } from "./pem.ts";
import { distinguishedName, type Subject } from "./subject.ts";

/** A certificate and its private key, both PEM; the key carries Talos's labels. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** Ten years, counted in hours as Talos does. */
const authorityLifetime = 87_600 * 3_600_000;

export interface AuthorityOptions {
  /** @default the subject stays empty, as Talos leaves that of the aggregator CA */
  readonly organization?: string | undefined;
  readonly kind: Exclude<KeyKind, "rsa-4096">;
  readonly clock: Clock;
  readonly entropy: Entropy;
}

/** From when certificates that are issued at this moment are valid: a machine whose clock is behind takes them at once. */
export function backdated(now: Date): Date {
  return new Date(now.getTime() - 3_600_000);
}

/** Makes a self-signed CA as Talos does: ten years, for signing, server and client use, random key identifier. */
export function createCertificateAuthority(options: AuthorityOptions): KeyPair {
  const { organization, kind, clock, entropy } = options;
  const pem = createKey(kind, entropy);
  const key = loadKey(pem);
  const now = clock.now();
  const subject = distinguishedName(organization === undefined ? {} : { organizations: [organization] });
  const certificate = signCertificate({
    serial: entropy(16),
    issuer: subject,
    subject,
    notBefore: backdated(now),
    notAfter: new Date(now.getTime() + authorityLifetime),
    publicKey: publicKeyInfo(key),
    extensions: [
      keyUsage(["digitalSignature", "keyCertSign"]),
      extendedKeyUsage(["serverAuth", "clientAuth"]),
      authorityConstraints(),
      subjectKeyIdentifier(entropy(20)),
    ],
    signer: key,
  });
  return { certificate, key: pem };
}

export interface LeafOptions extends AlternativeNames {
  readonly subject: Subject;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly usages: readonly ExtendedUsage[];
  /** @default digitalSignature only */
  readonly keyUsages?: readonly KeyUsage[];
}

/**
 * Makes a key and a certificate for it, signed by the CA. The key is of the CA's kind, except that below an RSA CA
 * (from a kubeadm cluster) it is ECDSA P-256: an RSA key would hold up the event loop for seconds.
 */
export function issueCertificate(ca: KeyPair, options: LeafOptions, { entropy }: { entropy: Entropy }): KeyPair {
  const signer = signerOf(ca);
  const key = createKey(keyKind(signer) === "ed25519" ? "ed25519" : "ecdsa-p256", entropy);
  const { subject: issuer, keyIdentifier } = readAuthority(ca.certificate);
  const certificate = signCertificate({
    serial: entropy(16),
    issuer,
    subject: distinguishedName(options.subject),
    notBefore: options.notBefore,
    notAfter: options.notAfter,
    publicKey: publicKeyInfo(loadKey(key)),
    extensions: [
      keyUsage(options.keyUsages ?? ["digitalSignature"]),
      extendedKeyUsage(options.usages),
      keyIdentifier && authorityKeyIdentifier(keyIdentifier),
      alternativeNames(options),
    ].filter(isGiven),
    signer,
  });
  return { certificate, key };
}

/** Reading a key takes longer than signing with it, and one CA signs for hundreds of machines. */
const signers = new WeakMap<KeyPair, { readonly pem: string; readonly key: KeyObject }>();

function signerOf(ca: KeyPair): KeyObject {
  const known = signers.get(ca);
  if (known?.pem === ca.key) return known.key;
  const key = loadKey(ca.key, "CA key");
  signers.set(ca, { pem: ca.key, key });
  return key;
}

interface CertificateContent {
  readonly serial: Uint8Array;
  readonly issuer: Der;
  readonly subject: Der;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly publicKey: Buffer;
  readonly extensions: readonly Der[];
  readonly signer: KeyObject;
}

function signCertificate(input: CertificateContent): string {
  const algorithm = signatureAlgorithm(keyKind(input.signer));
  const body = sequence(
    explicit(0, unsignedInteger(Buffer.from([2]))),
    unsignedInteger(input.serial),
    algorithm,
    input.issuer,
    sequence(time(input.notBefore), time(input.notAfter)),
    input.subject,
    decode(input.publicKey, "public key"),
    explicit(3, sequence(...input.extensions)),
  );
  const signature = signBytes(encode(body), input.signer);
  return encodePem("CERTIFICATE", encode(sequence(body, algorithm, bitString(signature))));
}

interface Authority {
  readonly subject: Der;
  readonly keyIdentifier: Buffer | undefined;
}

function readAuthority(certificate: string): Authority {
  const what = "CA certificate";
  const [body] = children(decode(decodePem(certificate, what).bytes, what));
  // version, serial, algorithm, issuer, validity, subject, public key, …, extensions
  const fields = body === undefined ? [] : children(body);
  const subject = fields[5];
  if (subject === undefined) throw new TalosError("invalid-input", `${what} has no subject`);
  const extensions = fields.find((field) => field.tagClass === 0x80 && Number(field.type) === 3);
  const list = extensions === undefined ? [] : children(children(extensions)[0] ?? extensions);
  for (const extension of list) {
    const [name, ...rest] = children(extension);
    const value = rest.at(-1);
    if (name === undefined || value === undefined) continue;
    if (dottedIdentifier(name) !== extensionIdentifier.subjectKeyIdentifier) continue;
    return { subject, keyIdentifier: content(decode(content(value), "key identifier")) };
  }
  return { subject, keyIdentifier: undefined };
}

/** Reads a PEM certificate. `what` names it in the error. */
export function loadCertificate(pem: string, what = "certificate"): X509Certificate {
  decodePem(pem, what);
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new TalosError("invalid-input", `${what} cannot be read: damaged certificate`, { cause });
  }
}

/** base64(SHA-256(SubjectPublicKeyInfo)), the form of `talosctl --cert-fingerprint`. Public and stable. */
export function publicKeyFingerprint(certificatePem: string): string {
  const { publicKey } = loadCertificate(certificatePem);
  return createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest("base64");
}

/** Whether the key is the one that the certificate is about. */
export function belongTogether(pair: KeyPair): boolean {
  return loadCertificate(pair.certificate).checkPrivateKey(loadKey(pair.key));
}
