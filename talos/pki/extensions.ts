// SPDX-License-Identifier: Apache-2.0
import ipaddr from "ipaddr.js";
import { TalosError } from "../errors.ts";
import { bitString, boolean, type Der, encode, implicit, objectIdentifier, octetString, sequence } from "./der.ts";

export type ExtendedUsage = "serverAuth" | "clientAuth";
export type KeyUsage = "digitalSignature" | "keyEncipherment" | "keyCertSign";

export interface AlternativeNames {
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
}

export const extensionIdentifier = {
  subjectKeyIdentifier: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAlternativeName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKeyIdentifier: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
} as const;

const extendedUsageIdentifiers: Record<ExtendedUsage, string> = {
  serverAuth: "1.3.6.1.5.5.7.3.1",
  clientAuth: "1.3.6.1.5.5.7.3.2",
};

/** Bit numbers count from the most significant bit of the first byte. */
const keyUsageBits: Record<KeyUsage, number> = { digitalSignature: 0, keyEncipherment: 2, keyCertSign: 5 };

export function keyUsage(usages: readonly KeyUsage[]): Der {
  const byte = usages.reduce((bits, usage) => bits | (0x80 >> keyUsageBits[usage]), 0);
  const lastBit = Math.max(...usages.map((usage) => keyUsageBits[usage]));
  return extension(extensionIdentifier.keyUsage, true, bitString(Buffer.from([byte]), 7 - lastBit));
}

export function extendedKeyUsage(usages: readonly ExtendedUsage[]): Der {
  const identifiers = usages.map((usage) => objectIdentifier(extendedUsageIdentifiers[usage]));
  return extension(extensionIdentifier.extendedKeyUsage, false, sequence(...identifiers));
}

export function authorityConstraints(): Der {
  return extension(extensionIdentifier.basicConstraints, true, sequence(boolean(true)));
}

export function subjectKeyIdentifier(id: Uint8Array): Der {
  return extension(extensionIdentifier.subjectKeyIdentifier, false, octetString(id));
}

export function authorityKeyIdentifier(id: Uint8Array): Der {
  return extension(extensionIdentifier.authorityKeyIdentifier, false, sequence(implicit(0, id)));
}

export function alternativeNames(names: AlternativeNames): Der | undefined {
  const entries = [
    ...(names.dnsNames ?? []).map((name) => implicit(2, Buffer.from(name, "latin1"))),
    ...(names.ipAddresses ?? []).map((address) => implicit(7, addressBytes(address))),
  ];
  if (entries.length === 0) return undefined;
  return extension(extensionIdentifier.subjectAlternativeName, false, sequence(...entries));
}

function addressBytes(address: string): Buffer {
  if (!ipaddr.isValid(address)) {
    throw new TalosError("invalid-input", `${JSON.stringify(address)} is not an IP address`);
  }
  return Buffer.from(ipaddr.parse(address).toByteArray());
}

function extension(identifier: string, critical: boolean, value: Der): Der {
  const name = objectIdentifier(identifier);
  const content = octetString(encode(value));
  return critical ? sequence(name, boolean(true), content) : sequence(name, content);
}
