// SPDX-License-Identifier: Apache-2.0
import { parseJson, type Type, type Value, valueFromJson } from "../framework/index.ts";
import type { DynamicValue } from "./gen/tfplugin6.ts";
import { decodeValue, encodeValue } from "./value-codec.ts";

/** Terraform sends MessagePack, and JSON only from old state files. Absent means null. */
export function fromDynamicValue(type: Type, dynamic: DynamicValue | undefined): Value {
  if (dynamic === undefined) return null;
  if (dynamic.msgpack.length > 0) return decodeValue(type, dynamic.msgpack);
  if (dynamic.json.length > 0) return valueFromJson(type, parseJson(Buffer.from(dynamic.json).toString("utf8")));
  return null;
}

export function toDynamicValue(type: Type, value: Value): DynamicValue {
  return { msgpack: encodeValue(type, value), json: new Uint8Array(0) };
}
