// SPDX-License-Identifier: Apache-2.0
import { createECDH, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, sign } from "node:crypto";
import { promisify } from "node:util";
import type { Entropy } from "../clock.ts";
import { TalosError } from "../errors.ts";
import {
  bitString,
  type Der,
  encode,
  explicit,
  nullValue,
  objectIdentifier,
  octetString,
  sequence,
  unsignedInteger,
} from "./der.ts";
import { decodePem, encodePem } from "./pem.ts";

export type KeyKind = "ed25519" | "ecdsa-p256" | "rsa-4096";

const ed25519Label = "ED25519 PRIVATE KEY";
const identifier = { ed25519: "1.3.101.112", prime256v1: "1.2.840.10045.3.1.7" } as const;

/**
 * Makes a private key that needs no search for primes, from the given entropy alone: the same bytes give the same key.
 * RSA keys are made by `createRsaKey`.
 */
export function createKey(kind: Exclude<KeyKind, "rsa-4096">, entropy: Entropy): string {
  return kind === "ed25519" ? createEd25519Key(entropy) : createEcdsaKey(entropy);
}

/** Makes an RSA key (PKCS#1 PEM) on the thread pool, because one of 4096 bits takes up to seconds. */
export async function createRsaKey(modulusLength: 4096 | 2048 = 4096): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength });
  return privateKey.export({ type: "pkcs1", format: "pem" }).toString();
}

function createEd25519Key(entropy: Entropy): string {
  const seed = octetString(entropy(32));
  const version = unsignedInteger(Buffer.from([0]));
  const pkcs8 = sequence(version, sequence(objectIdentifier(identifier.ed25519)), octetString(encode(seed)));
  return encodePem(ed25519Label, encode(pkcs8));
}

function createEcdsaKey(entropy: Entropy): string {
  const curve = createECDH("prime256v1");
  for (;;) {
    const scalar = Buffer.from(entropy(32));
    try {
      // Refuses zero and numbers beyond the group's order, about once in 2^32 keys.
      curve.setPrivateKey(scalar);
    } catch {
      continue;
    }
    const sec1 = sequence(
      unsignedInteger(Buffer.from([1])),
      octetString(scalar),
      explicit(0, objectIdentifier(identifier.prime256v1)),
      explicit(1, bitString(curve.getPublicKey())),
    );
    return encodePem("EC PRIVATE KEY", encode(sec1));
  }
}

/** The same key with a label that node:crypto and node:tls accept: Talos labels its Ed25519 keys in its own way. */
export function keyForNode(pem: string): string {
  const { label, bytes } = decodePem(pem, "private key");
  return label === ed25519Label ? encodePem("PRIVATE KEY", bytes) : pem;
}

/** Loads a private key under any of the labels that Talos reads. The text never appears in the error. */
export function loadKey(pem: string, what = "private key"): KeyObject {
  try {
    return createPrivateKey(keyForNode(pem));
  } catch (cause) {
    if (cause instanceof TalosError) throw cause;
    throw new TalosError("invalid-input", `${what} cannot be read: unsupported or damaged private key`, { cause });
  }
}

/** Throws when the text is not a private key that Talos would accept. */
export function checkKey(pem: string, what: string): void {
  decodePem(pem, what);
  loadKey(pem, what);
}

export function keyKind(key: KeyObject): KeyKind {
  switch (key.asymmetricKeyType) {
    case "ed25519":
      return "ed25519";
    case "ec":
      return "ecdsa-p256";
    case "rsa":
      return "rsa-4096";
    default:
      throw new TalosError("invalid-input", `private keys of type ${key.asymmetricKeyType} are not supported`, {
        hint: "Use Ed25519, ECDSA P-256 or RSA.",
      });
  }
}

/** SubjectPublicKeyInfo of a private key, as DER. */
export function publicKeyInfo(key: KeyObject): Buffer {
  return createPublicKey(key).export({ type: "spki", format: "der" });
}

const signatureIdentifiers: Record<KeyKind, string> = {
  ed25519: identifier.ed25519,
  "ecdsa-p256": "1.2.840.10045.4.3.2",
  "rsa-4096": "1.2.840.113549.1.1.11",
};

/** AlgorithmIdentifier of the signatures that a key of this kind makes. */
export function signatureAlgorithm(kind: KeyKind): Der {
  const name = objectIdentifier(signatureIdentifiers[kind]);
  return kind === "rsa-4096" ? sequence(name, nullValue()) : sequence(name);
}

export function signBytes(bytes: Uint8Array, key: KeyObject): Buffer {
  return sign(key.asymmetricKeyType === "ed25519" ? null : "sha256", bytes, key);
}
