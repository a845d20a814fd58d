// SPDX-License-Identifier: Apache-2.0
import { DiagnosticError, parseJson, type Type, type Value, valueFromJson } from "../framework/index.ts";
import type { DynamicValue } from "./gen/tfplugin6.ts";
import { decodeValue, encodeValue, type NumberForm } from "./value-codec.ts";

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
