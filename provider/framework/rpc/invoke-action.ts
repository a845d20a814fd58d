// SPDX-License-Identifier: Apache-2.0
import type { Attributes, PlanOf } from "../attribute.ts";
import { type Diagnostic, DiagnosticError } from "../diagnostics.ts";
import type { Server } from "../server.ts";
import { timeoutOf } from "../timeouts.ts";
import { isObject, isWhollyKnown, type Value } from "../value.ts";

/** Does what an action is there for. What it throws is in the diagnostics. */
export async function invokeAction<C>(
  server: Server<C>,
  name: string,
  config: Value,
  progress: (sentence: string) => void,
): Promise<readonly Diagnostic[]> {
  const action = server.action(name);
  const own = isObject(config) ? config.timeouts : undefined;
  const limit = { name: "invoke", milliseconds: timeoutOf("invoke", action.timeouts ?? {}, own ?? null) };
  const { diagnostics } = await server.run(limit, (operation) => {
    if (!isObject(config) || !isWhollyKnown(config))
      throw new DiagnosticError({
        summary: "Values are not known",
        detail: `${name} was invoked before all values of its configuration were known.`,
      });
    return action.invoke({ ...operation, config: config as PlanOf<Attributes>, progress });
  });
  return diagnostics.list;
}
