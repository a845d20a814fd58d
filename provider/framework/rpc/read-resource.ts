// SPDX-License-Identifier: Apache-2.0
import type { Attributes, StateOf } from "../attribute.ts";
import { withEmptyBlocks } from "../block-rules.ts";
import type { Diagnostic } from "../diagnostics.ts";
import { schemaOf } from "../schema.ts";
import type { Server } from "../server.ts";
import { timeoutOf } from "../timeouts.ts";
import { isObject, type ObjectValue, type Value } from "../value.ts";

export interface ReadResult {
  readonly state: Value;
  readonly diagnostics: readonly Diagnostic[];
}

/** The newest state. A read that fails keeps the old one. */
export async function readResource<C>(
  server: Server<C>,
  typeName: string,
  state: Value,
  remembered = "",
): Promise<ReadResult> {
  const resource = server.resource(typeName);
  if (!isObject(state)) return { state: null, diagnostics: [] };
  const milliseconds = timeoutOf("read", resource.timeouts ?? {}, state.timeouts ?? null);
  const { result, diagnostics } = await server.run({ name: "read", milliseconds }, (operation) =>
    resource.read({ ...operation, state: state as StateOf<Attributes>, remembered }),
  );
  const { attributes } = schemaOf(resource);
  const newest =
    result === undefined ? state : result && withEmptyBlocks(attributes, { ...state, ...(result as ObjectValue) });
  return { state: newest, diagnostics: diagnostics.list };
}
