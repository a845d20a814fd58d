// SPDX-License-Identifier: Apache-2.0
import type { Attributes, StateOf } from "../attribute.ts";
import { withEmptyBlocks } from "../block-rules.ts";
import { DiagnosticError } from "../diagnostics.ts";
import { type Json, parseJson, valueFromJson } from "../json.ts";
import { schemaOf } from "../schema.ts";
import type { Server } from "../server.ts";
import { isObject, type ObjectValue, type Value } from "../value.ts";

/** A stored state, of this schema version or an older one, as a value of the current schema. */
export function upgradeResourceState<C>(server: Server<C>, typeName: string, version: number, json: string): Value {
  const resource = server.resource(typeName);
  const schema = schemaOf(resource);
  if (version > schema.version)
    throw new DiagnosticError({
      summary: "State of a newer provider",
      detail: `The state of ${typeName} has schema version ${version}, this provider knows up to ${schema.version}. Use the newer provider again.`,
    });
  let state = stateFromJson(typeName, () => parseJson(json));
  for (let step = version; step < schema.version; step += 1) {
    const upgrade = resource.upgraders?.[step];
    if (upgrade === undefined || !isObject(state as Value))
      throw new DiagnosticError({
        summary: "State can't be upgraded",
        detail: `There is no way from schema version ${step} of ${typeName} to ${step + 1}.`,
      });
    state = upgrade(state as Readonly<Record<string, Json>>);
  }
  const value = stateFromJson(typeName, () => valueFromJson(schema.type, state));
  if (!isObject(value)) return value;
  const stored = withEmptyBlocks(schema.attributes, value);
  return (resource.recall?.(stored as StateOf<Attributes>) as ObjectValue | undefined) ?? stored;
}

/** A state that was cut off or edited is nobody's fault but the file's. */
function stateFromJson<T extends Json | Value>(typeName: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new DiagnosticError(
      {
        summary: "State can't be read",
        detail: `The state of ${typeName} is not what a provider wrote: ${cause instanceof Error ? cause.message : String(cause)}. Take the state's backup, and apply again.`,
      },
      { cause },
    );
  }
}
