// SPDX-License-Identifier: Apache-2.0
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { Struct } from "../../talos/api/gen/google/protobuf/struct.ts";

/**
 * How the YAML form of a resource's spec becomes its protobuf form: by key, the field number and what it holds. Lists
 * become repeated fields; zero values are left out.
 */
export type Shape = Readonly<Record<string, Field>>;

export type Field = readonly [number: number, kind: Kind];

export type Kind =
  | "string"
  | "bool"
  | "number"
  | "address"
  | "prefix"
  | "hex"
  | "text-bytes"
  | "struct"
  | "string-map"
  | { readonly names: Readonly<Record<string, number>> }
  | { readonly message: Shape };

/** Encodes a spec. A `whole` field takes the spec itself, for types whose YAML is not an object. */
export function encodeSpec(shape: Shape, spec: unknown): Uint8Array {
  const writer = new BinaryWriter();
  for (const [key, [number, kind]] of Object.entries(shape)) {
    const value = key === "@" ? spec : (spec as Readonly<Record<string, unknown>>)[key];
    for (const item of Array.isArray(value) && kind !== "struct" ? value : [value])
      writeField(writer, number, kind, item);
  }
  return writer.finish();
}

function writeField(writer: BinaryWriter, number: number, kind: Kind, value: unknown): void {
  if (value === undefined || value === null || value === "" || value === 0 || value === false) return;
  if (typeof kind === "object" && "names" in kind) {
    const code = kind.names[String(value)] ?? 0;
    if (code !== 0) writer.uint32(number * 8).int32(code);
  } else if (kind === "bool" || kind === "number") {
    writer.uint32(number * 8).uint64(BigInt(Number(value)));
  } else if (kind === "string-map") {
    for (const [key, text] of Object.entries(value as Record<string, string>)) {
      bytes(writer, number, new BinaryWriter().uint32(10).string(key).uint32(18).string(text).finish());
    }
  } else {
    bytes(writer, number, contentOf(kind, value));
  }
}

function contentOf(
  kind: Exclude<Kind, "bool" | "number" | "string-map" | { readonly names: unknown }>,
  value: unknown,
): Uint8Array {
  if (typeof kind === "object") return encodeSpec(kind.message, value);
  switch (kind) {
    case "string":
    case "text-bytes":
      return Buffer.from(String(value));
    case "hex":
      return Buffer.from(String(value).replaceAll(":", ""), "hex");
    case "address":
      return addressMessage(String(value));
    case "prefix": {
      const [address = "", length = "0"] = String(value).split("/");
      return new BinaryWriter().uint32(10).bytes(addressBytes(address)).uint32(16).int32(Number(length)).finish();
    }
    case "struct":
      return Struct.encode(Struct.wrap(value as Record<string, unknown>)).finish();
  }
}

function bytes(writer: BinaryWriter, number: number, content: Uint8Array): void {
  writer.uint32(number * 8 + 2).bytes(content);
}

function addressMessage(address: string): Uint8Array {
  return new BinaryWriter().uint32(10).bytes(addressBytes(address)).finish();
}

function addressBytes(address: string): Uint8Array {
  if (!address.includes(":")) return Uint8Array.from(address.split("."), Number);
  const [head = "", tail = ""] = address.split("::");
  const groups = (text: string): string[] => (text === "" ? [] : text.split(":"));
  const left = groups(head);
  const right = groups(tail);
  const zeros = Array.from({ length: address.includes("::") ? 8 - left.length - right.length : 0 }, () => "0");
  return Buffer.from([...left, ...zeros, ...right].map((group) => group.padStart(4, "0")).join(""), "hex");
}
