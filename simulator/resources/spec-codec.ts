// SPDX-License-Identifier: Apache-2.0
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import ipaddr from "ipaddr.js";
import { Struct } from "../../talos/api/gen/google/protobuf/struct.ts";

type Numbers = Readonly<Record<string, number>>;
type Plain = "string" | "bool" | "number" | "address" | "prefix" | "hex" | "struct" | "string-map";

/**
 * How the YAML form of a resource's spec becomes its protobuf form: by what they hold, the fields with their numbers.
 * Lists become repeated fields; zero values are left out. `@` is the spec itself, for types whose YAML is not an object.
 */
export type Shape = { readonly [K in Plain]?: Numbers } & {
  readonly names?: Readonly<Record<string, readonly [field: number, codes: Numbers]>>;
  readonly message?: Readonly<Record<string, readonly [field: number, shape: Shape]>>;
};

export function encodeSpec({ names = {}, message = {}, ...plain }: Shape, spec: unknown): Uint8Array {
  const writer = new BinaryWriter();
  for (const [kind, fields] of Object.entries(plain) as [Plain, Numbers][]) {
    for (const [key, field] of Object.entries(fields)) {
      for (const item of itemsOf(spec, key)) writePlain(writer, field, kind, item);
    }
  }
  for (const [key, [field, codes]] of Object.entries(names)) {
    for (const item of itemsOf(spec, key)) {
      const code = codes[String(item)];
      if (code !== undefined) writer.uint32(field * 8).int32(code);
    }
  }
  for (const [key, [field, shape]] of Object.entries(message)) {
    for (const item of itemsOf(spec, key)) bytes(writer, field, encodeSpec(shape, item));
  }
  return writer.finish();
}

const zero: readonly unknown[] = [undefined, null, "", 0, false];

function itemsOf(spec: unknown, key: string): readonly unknown[] {
  const value = key === "@" ? spec : (spec as Readonly<Record<string, unknown>>)[key];
  return [value].flat().filter((item) => !zero.includes(item));
}

function writePlain(writer: BinaryWriter, field: number, kind: Plain, value: unknown): void {
  switch (kind) {
    case "bool":
    case "number":
      writer.uint32(field * 8).uint64(BigInt(Number(value)));
      break;
    case "string-map":
      for (const [key, text] of Object.entries(value as Record<string, string>)) {
        bytes(writer, field, new BinaryWriter().uint32(10).string(key).uint32(18).string(text).finish());
      }
      break;
    case "string":
      bytes(writer, field, Buffer.from(String(value)));
      break;
    case "hex":
      bytes(writer, field, Buffer.from(String(value).replaceAll(":", ""), "hex"));
      break;
    case "address":
      bytes(writer, field, addressField(String(value)).finish());
      break;
    case "prefix": {
      const [address = "", length = "0"] = String(value).split("/");
      bytes(writer, field, addressField(address).uint32(16).int32(Number(length)).finish());
      break;
    }
    case "struct":
      bytes(writer, field, Struct.encode(Struct.wrap(value as Record<string, unknown>)).finish());
  }
}

function bytes(writer: BinaryWriter, number: number, content: Uint8Array): void {
  writer.uint32(number * 8 + 2).bytes(content);
}

function addressField(address: string): BinaryWriter {
  return new BinaryWriter().uint32(10).bytes(Uint8Array.from(ipaddr.parse(address).toByteArray()));
}
