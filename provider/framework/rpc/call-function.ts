// SPDX-License-Identifier: Apache-2.0
import type { ProviderFunction } from "../function.ts";
import type { Server } from "../server.ts";
import type { Type } from "../type.ts";
import type { Value } from "../value.ts";

/** The type of each argument, the repeated last one included. */
export function argumentTypes(definition: ProviderFunction, count: number): Type[] {
  return Array.from({ length: count }, (_, index) => {
    const parameter = definition.parameters[index] ?? definition.variadic;
    if (parameter === undefined)
      throw new TypeError(`${definition.name} takes ${definition.parameters.length} arguments`);
    return parameter.type;
  });
}

/** Throws {@link FunctionError} for a faulty argument. */
export async function callFunction<C>(server: Server<C>, name: string, values: readonly Value[]): Promise<Value> {
  return server.function(name).call(values);
}
