// SPDX-License-Identifier: Apache-2.0
import { type NumberBound, type NumberValue, type Refinement, Unknown } from "../framework/index.ts";
import { MsgpackReader } from "./msgpack-reader.ts";
import { MsgpackWriter } from "./msgpack-writer.ts";
import { readNumber, writeNumber } from "./number.ts";

const plainCode = 0;
const refinedCode = 12;

/** The keys of a refinement on the wire. */
const keys = { isNull: 1, stringPrefix: 2, numberMin: 3, numberMax: 4, lengthMin: 5, lengthMax: 6 } as const;

export function writeUnknown(writer: MsgpackWriter, { refinement }: Unknown): void {
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

export function readUnknown(code: number, bytes: Uint8Array): Unknown {
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
