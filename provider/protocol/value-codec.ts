// SPDX-License-Identifier: Apache-2.0
import {
  DiagnosticError,
  Dynamic,
  elementType,
  isList,
  isNumber,
  isObject,
  isUnknown,
  type NumberBound,
  type NumberValue,
  numberFromDouble,
  numberText,
  parseJson,
  parseNumber,
  type Refinement,
  shortest,
  type Type,
  typeFromJson,
  typeToJson,
  Unknown,
  type Value,
  valueFromJson,
} from "../framework/index.ts";
import type { DynamicValue } from "./gen/tfplugin6.ts";
import { MsgpackReader, type MsgpackToken, MsgpackWriter } from "./msgpack.ts";

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

/** Integers of 64 bits as such, everything else as decimal text: no number loses a digit on the way. */
function writeNumber(writer: MsgpackWriter, value: NumberValue): void {
  if (typeof value === "bigint" || Number.isInteger(value)) {
    const integer = BigInt(value as number | bigint);
    if (integer >= -(2n ** 63n) && integer < 2n ** 64n) {
      writer.integer(integer);
      return;
    }
  }
  writeNumberAsText(writer, value);
}

export function writeNumberAsText(writer: MsgpackWriter, value: NumberValue): void {
  writer.string(numberText(value));
}

function readNumber(token: MsgpackToken): NumberValue {
  if (token.kind === "integer") return shortest(token.value);
  if (token.kind === "float") return numberFromDouble(token.value);
  if (token.kind === "string") return parseNumber(token.value);
  throw new TypeError(`expected a number, found ${token.kind}`);
}

const plainCode = 0;
const refinedCode = 12;

/** The keys of a refinement on the wire. */
const keys = { isNull: 1, stringPrefix: 2, numberMin: 3, numberMax: 4, lengthMin: 5, lengthMax: 6 } as const;

function writeUnknown(writer: MsgpackWriter, { refinement }: Unknown): void {
  if (refinement === undefined) {
    writer.extension(plainCode, new Uint8Array(1));
    return;
  }
  const body = new MsgpackWriter();
  const fields = Object.entries(refinement).filter(([, value]) => value !== undefined);
  body.map(fields.length);
  for (const [name, value] of fields as [keyof typeof keys, boolean | string | number | NumberBound][]) {
    body.integer(BigInt(keys[name]));
    if (typeof value === "boolean") body.bool(value);
    else if (typeof value === "string") body.string(value);
    else if (typeof value === "number") body.integer(BigInt(value));
    else {
      body.array(2);
      writeNumber(body, value.value);
      body.bool(value.inclusive);
    }
  }
  writer.extension(refinedCode, body.bytes());
}

function readUnknown(code: number, bytes: Uint8Array): Unknown {
  if (code !== refinedCode) return new Unknown();
  const reader = new MsgpackReader(bytes);
  const head = reader.next();
  if (head.kind !== "map") throw new TypeError("expected a refinement");
  let refinement: Refinement = {};
  for (let index = 0; index < head.size; index += 1) refinement = { ...refinement, ...readField(reader) };
  return new Unknown(refinement);
}

function readField(reader: MsgpackReader): Refinement {
  const key = reader.next();
  const number = key.kind === "integer" ? Number(key.value) : undefined;
  const value = reader.next();
  if (number === keys.isNull && value.kind === "bool") return { isNull: value.value };
  if (number === keys.stringPrefix && value.kind === "string") return { stringPrefix: value.value };
  if (number === keys.lengthMin && value.kind === "integer") return { lengthMin: Number(value.value) };
  if (number === keys.lengthMax && value.kind === "integer") return { lengthMax: Number(value.value) };
  if (value.kind === "array" && value.size === 2) {
    const bound = readBound(readNumber(reader.next()), reader);
    if (number === keys.numberMin) return { numberMin: bound };
    if (number === keys.numberMax) return { numberMax: bound };
  }
  throw new TypeError("expected a refinement");
}

function readBound(value: NumberValue, reader: MsgpackReader): NumberBound {
  const inclusive = reader.next();
  if (inclusive.kind !== "bool") throw new TypeError("expected a refinement");
  return { value, inclusive: inclusive.value };
}

/** Terraform sends MessagePack, and JSON only from old state files. Absent means null. What is neither is a diagnostic. */
export function fromDynamicValue(type: Type, dynamic: DynamicValue | undefined): Value {
  if (dynamic === undefined) return null;
  try {
    if (dynamic.msgpack.length > 0) return decodeValue(type, dynamic.msgpack);
    if (dynamic.json.length > 0) return valueFromJson(type, parseJson(Buffer.from(dynamic.json).toString("utf8")));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new DiagnosticError(
      {
        summary: "Unreadable value",
        detail: `Terraform sent a value that does not fit the schema: ${reason}. Run init again, so that Terraform and the provider agree on the schema; a state that was edited by hand comes back from its backup.`,
      },
      { cause },
    );
  }
  return null;
}

export function toDynamicValue(type: Type, value: Value, number?: NumberForm): DynamicValue {
  return { msgpack: encodeValue(type, value, number), json: new Uint8Array(0) };
}
