// SPDX-License-Identifier: Apache-2.0
import { type NumberValue, numberFromDouble, numberText, parseNumber, shortest } from "../framework/index.ts";
import type { MsgpackToken } from "./msgpack-reader.ts";
import type { MsgpackWriter } from "./msgpack-writer.ts";

/** Integers of 64 bits as such, everything else as decimal text: no number loses a digit on the way. */
export function writeNumber(writer: MsgpackWriter, value: NumberValue): void {
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

export function readNumber(token: MsgpackToken): NumberValue {
  if (token.kind === "integer") return shortest(token.value);
  if (token.kind === "float") return numberFromDouble(token.value);
  if (token.kind === "string") return parseNumber(token.value);
  throw new TypeError(`expected a number, found ${token.kind}`);
}
