// SPDX-License-Identifier: Apache-2.0
import { createPublicKey } from "node:crypto";
import type { Entropy } from "../clock.ts";
import { TalosError } from "../errors.ts";
import { type KeyPair, type LeafTerms, signLeaf } from "./certificate.ts";
import {
  bitString,
  children,
  content,
  type Der,
  decode,
  dottedIdentifier,
  encode,
  explicit,
  objectIdentifier,
  sequence,
  set,
  unsignedInteger,
} from "./der.ts";
import { type AlternativeNames, alternativeNames, extensionIdentifier } from "./extensions.ts";
import {
  createKey,
  type KeyKind,
  keyKind,
  loadKey,
  publicKeyInfo,
  signatureAlgorithm,
  signBytes,
  verifyBytes,
} from "./key.ts";
import { decodePem, encodePem } from "./pem.ts";
import { distinguishedName, type Subject } from "./subject.ts";

/** PKCS#9 extensionRequest, the attribute that carries the wished names. */
const extensionRequest = "1.2.840.113549.1.9.14";

export interface SigningRequest {
  /** PEM, label `CERTIFICATE REQUEST`. */
  readonly request: string;
  readonly key: string;
}

export interface SigningRequestOptions extends AlternativeNames {
  readonly kind: Exclude<KeyKind, "rsa-4096">;
  readonly subject: Subject;
  readonly entropy: Entropy;
}

export function createSigningRequest(options: SigningRequestOptions): SigningRequest {
  const pem = createKey(options.kind, options.entropy);
  const key = loadKey(pem);
  const names = alternativeNames(options);
  const attributes = names === undefined ? [] : [sequence(objectIdentifier(extensionRequest), set(sequence(names)))];
  const body = sequence(
    unsignedInteger(Buffer.from([0])),
    distinguishedName(options.subject),
    decode(publicKeyInfo(key), "public key"),
    explicit(0, ...attributes),
  );
  const signature = bitString(signBytes(encode(body), key));
  const request = sequence(body, signatureAlgorithm(keyKind(key)), signature);
  return { request: encodePem("CERTIFICATE REQUEST", encode(request)), key: pem };
}

/**
 * Signs a request: subject, key and names are the requester's, the terms are the CA's. Throws when the request is
 * damaged or not signed by its own key.
 */
export function signRequest(ca: KeyPair, request: string, terms: LeafTerms, { entropy }: { entropy: Entropy }): string {
  const what = "certificate request";
  const [body, , signature] = children(decode(decodePem(request, what).bytes, what));
  const [, subject, publicKey, attributes] = body === undefined ? [] : children(body);
  if (body === undefined || signature === undefined || subject === undefined || publicKey === undefined) {
    throw new TalosError("invalid-input", `${what} has parts missing`);
  }
  const spki = encode(publicKey);
  const signer = createPublicKey({ key: spki, type: "spki", format: "der" });
  // The first byte of a BIT STRING counts its unused bits.
  if (!verifyBytes(encode(body), signer, content(signature).subarray(1))) {
    throw new TalosError("invalid-input", `${what} is not signed by its own key`);
  }
  const names = attributes === undefined ? {} : wishedNames(attributes);
  return signLeaf(ca, { subject, publicKey: spki, names, terms, entropy });
}

function wishedNames(attributes: Der): AlternativeNames {
  const dnsNames: string[] = [];
  const ipAddresses: string[] = [];
  for (const attribute of children(attributes)) {
    const [type, values] = children(attribute);
    if (type === undefined || values === undefined || dottedIdentifier(type) !== extensionRequest) continue;
    for (const extension of children(values).flatMap(children)) {
      const [name, ...rest] = children(extension);
      const value = rest.at(-1);
      if (name === undefined || value === undefined) continue;
      if (dottedIdentifier(name) !== extensionIdentifier.subjectAlternativeName) continue;
      for (const entry of children(decode(content(value), "subject alternative names"))) {
        if (Number(entry.type) === 2) dnsNames.push(content(entry).toString("latin1"));
        else if (Number(entry.type) === 7) ipAddresses.push(addressText(content(entry)));
      }
    }
  }
  return { dnsNames, ipAddresses };
}

function addressText(bytes: Buffer): string {
  if (bytes.length === 4) return [...bytes].join(".");
  return (bytes.toString("hex").match(/.{4}/g) ?? []).join(":");
}
