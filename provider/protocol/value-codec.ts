// SPDX-License-Identifier: Apache-2.0
import {
  Dynamic,
  elementType,
  isList,
  isNumber,
  isObject,
  isUnknown,
  type Type,
  typeFromJson,
  typeToJson,
  type Value,
} from "../framework/index.ts";
import { MsgpackReader, type MsgpackToken } from "./msgpack-reader.ts";
import { MsgpackWriter } from "./msgpack-writer.ts";
import { readNumber, writeNumber } from "./number.ts";
import { readUnknown, writeUnknown } from "./refinement.ts";

const deepest = 500;

/** Terraform reads a number in any of its forms. */
export type NumberForm = typeof writeNumber;

/** A value in Terraform's MessagePack form. Throws when the value is not of the type. */
export function encodeValue(type: Type, value: Value, number: NumberForm = writeNumber): Uint8Array {
  const writer = new MsgpackWriter();
  write({ writer, number }, type, value, "value");
  return writer.bytes();
}

interface Output {
  readonly writer: MsgpackWriter;
  readonly number: NumberForm;
}

function write(output: Output, type: Type, value: Value, where: string): void {
  const { writer, number } = output;
  if (value === null) writer.nil();
  else if (isUnknown(value)) writeUnknown(writer, value);
  else if (type.kind === "dynamic" && value instanceof Dynamic) {
    writer.array(2);
    writer.binary(Buffer.from(JSON.stringify(typeToJson(value.type))));
    write(output, value.type, value.value, where);
  } else if (type.kind === "string" && typeof value === "string") writer.string(value);
  else if (type.kind === "bool" && typeof value === "boolean") writer.bool(value);
  else if (type.kind === "number" && isNumber(value)) number(writer, value);
  else if ((type.kind === "list" || type.kind === "set" || type.kind === "tuple") && isList(value)) {
    writer.array(value.length);
    value.forEach((item, index) => {
      write(output, elementType(type, index), item, `${where}[${index}]`);
    });
  } else if ((type.kind === "map" || type.kind === "object") && isObject(value)) {
    const names = Object.keys(type.kind === "object" ? type.attributes : value).sort();
    writer.map(names.length);
    for (const name of names) {
      writer.string(name);
      write(output, elementType(type, name), value[name] ?? null, `${where}.${name}`);
    }
  } else throw new TypeError(`${where}: expected ${type.kind}`);
}

/** The inverse of {@link encodeValue}. Throws on bytes that do not hold a value of the type. */
export function decodeValue(type: Type, bytes: Uint8Array): Value {
  const reader = new MsgpackReader(bytes);
  const value = read(reader, type, "value", 0);
  if (!reader.done) throw new RangeError("bytes are left after the value");
  return value;
}

function read(reader: MsgpackReader, type: Type, where: string, depth: number): Value {
  if (depth > deepest) throw new RangeError("value is nested too deep");
  const token = reader.next();
  const wrong = (): never => {
    throw new TypeError(`${where}: expected ${type.kind}, found ${token.kind}`);
  };
  if (token.kind === "nil") return null;
  if (token.kind === "extension") return readUnknown(token.code, token.value);
  switch (type.kind) {
    case "string":
      if (token.kind === "string") return token.value;
      return token.kind === "binary" ? Buffer.from(token.value).toString("utf8") : wrong();
    case "bool":
      return token.kind === "bool" ? token.value : wrong();
    case "number":
      return readNumber(token);
    case "list":
    case "set":
    case "tuple": {
      if (token.kind !== "array" || (type.kind === "tuple" && token.size !== type.elements.length)) return wrong();
      return Array.from({ length: token.size }, (_, index) =>
        read(reader, elementType(type, index), `${where}[${index}]`, depth + 1),
      );
    }
    case "map":
    case "object":
      return readFields(reader, type, token, where, depth) ?? wrong();
    case "dynamic": {
      const inner = token.kind === "array" && token.size === 2 ? reader.next() : undefined;
      if (inner?.kind !== "binary" && inner?.kind !== "string") return wrong();
      const own = typeFromJson(JSON.parse(Buffer.from(inner.value).toString("utf8")));
      return new Dynamic(own, read(reader, own, where, depth + 1));
    }
  }
}

function readFields(
  reader: MsgpackReader,
  type: Type,
  token: MsgpackToken,
  where: string,
  depth: number,
): Value | undefined {
  if (token.kind !== "map") return undefined;
  // Without a prototype, and an object's attributes in the order of its type, whatever the bytes have left out.
  const value: Record<string, Value> = Object.create(null);
  if (type.kind === "object") for (const name of Object.keys(type.attributes)) value[name] = null;
  for (let index = 0; index < token.size; index += 1) {
    const name = reader.next();
    if (name.kind !== "string") throw new TypeError(`${where}: expected a name, found ${name.kind}`);
    if (type.kind === "object" && !Object.hasOwn(type.attributes, name.value))
      throw new TypeError(`${where}: has no attribute ${JSON.stringify(name.value)}`);
    value[name.value] = read(reader, elementType(type, name.value), `${where}.${name.value}`, depth + 1);
  }
  return value;
}
