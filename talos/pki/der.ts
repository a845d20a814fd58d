// SPDX-License-Identifier: Apache-2.0
import type { asn1 as Asn1Types } from "node-forge";
import asn1 from "node-forge/lib/asn1.js";
import { TalosError } from "../errors.ts";

/** A node of an ASN.1 tree. */
export type Der = Asn1Types.Asn1;

const { UNIVERSAL, CONTEXT_SPECIFIC } = asn1.Class;

// The typings know only the older, boolean second argument. Bit strings stay bytes: by default forge guesses structure.
const fromDer = asn1.fromDer as unknown as (
  bytes: string,
  options: { strict: boolean; decodeBitStrings: boolean },
) => Der;

export function sequence(...items: readonly Der[]): Der {
  return asn1.create(UNIVERSAL, asn1.Type.SEQUENCE, true, [...items]);
}

/** A SET, its members in the order that DER demands. */
export function set(...items: readonly Der[]): Der {
  const sorted = [...items].sort((left, right) => Buffer.compare(encode(left), encode(right)));
  return asn1.create(UNIVERSAL, asn1.Type.SET, true, sorted);
}

export function objectIdentifier(dotted: string): Der {
  return asn1.create(UNIVERSAL, asn1.Type.OID, false, asn1.oidToDer(dotted).getBytes());
}

/** A non-negative INTEGER from its big-endian bytes. */
export function unsignedInteger(bytes: Uint8Array): Der {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start += 1;
  const trimmed = Buffer.from(bytes.subarray(start));
  const padded = (trimmed[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), trimmed]) : trimmed;
  return asn1.create(UNIVERSAL, asn1.Type.INTEGER, false, padded.toString("latin1"));
}

export function boolean(value: boolean): Der {
  return asn1.create(UNIVERSAL, asn1.Type.BOOLEAN, false, value ? "\xff" : "\x00");
}

export function nullValue(): Der {
  return asn1.create(UNIVERSAL, asn1.Type.NULL, false, "");
}

export function octetString(bytes: Uint8Array): Der {
  return asn1.create(UNIVERSAL, asn1.Type.OCTETSTRING, false, Buffer.from(bytes).toString("latin1"));
}

export function bitString(bytes: Uint8Array, unusedBits = 0): Der {
  const content = Buffer.concat([Buffer.from([unusedBits]), bytes]);
  return asn1.create(UNIVERSAL, asn1.Type.BITSTRING, false, content.toString("latin1"));
}

/** PrintableString where the alphabet allows it, else UTF8String. */
export function text(value: string): Der {
  const type = /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(value) ? asn1.Type.PRINTABLESTRING : asn1.Type.UTF8;
  return asn1.create(UNIVERSAL, type, false, Buffer.from(value, "utf8").toString("latin1"));
}

/** UTCTime until 2049, GeneralizedTime after; whole seconds, UTC. */
export function time(date: Date): Der {
  const digits = date.toISOString().replace(/[-:T]|\.\d+/g, "");
  const early = date.getUTCFullYear() < 2050;
  const type = early ? asn1.Type.UTCTIME : asn1.Type.GENERALIZEDTIME;
  return asn1.create(UNIVERSAL, type, false, early ? digits.slice(2) : digits);
}

/** `[number]` around other nodes. */
export function explicit(number: number, ...items: readonly Der[]): Der {
  return asn1.create(CONTEXT_SPECIFIC, number, true, [...items]);
}

/** `[number]` in place of a primitive type. */
export function implicit(number: number, bytes: Uint8Array): Der {
  return asn1.create(CONTEXT_SPECIFIC, number, false, Buffer.from(bytes).toString("latin1"));
}

export function encode(der: Der): Buffer {
  return Buffer.from(asn1.toDer(der).getBytes(), "latin1");
}

/** Reads DER. Throws `invalid-input` naming `what` when the bytes are not one whole structure. */
export function decode(bytes: Uint8Array, what: string): Der {
  try {
    return fromDer(Buffer.from(bytes).toString("latin1"), { strict: true, decodeBitStrings: false });
  } catch (cause) {
    throw new TalosError("invalid-input", `${what} is not valid DER`, { cause });
  }
}

export function children(der: Der): readonly Der[] {
  return Array.isArray(der.value) ? der.value : [];
}

/** The content of a primitive node. */
export function content(der: Der): Buffer {
  return typeof der.value === "string" ? Buffer.from(der.value, "latin1") : Buffer.alloc(0);
}

export function dottedIdentifier(der: Der): string {
  return typeof der.value === "string" ? asn1.derToOid(der.value) : "";
}
