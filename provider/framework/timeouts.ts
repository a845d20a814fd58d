// SPDX-License-Identifier: Apache-2.0
import type { Attribute } from "./attribute.ts";
import { nestedObject, string } from "./attributes.ts";
import { checkDuration, parseDuration } from "./duration.ts";
import { isObject, type Value } from "./value.ts";

export type OperationName = "create" | "read" | "update" | "delete";

/** The default of each operation that takes time, e.g. `{ create: "30m" }`. An operation left out is not limited. */
export type Timeouts = Partial<Readonly<Record<OperationName, string>>>;

/** The `timeouts` attribute that the framework adds to a type, so that every type has the same one. */
export function timeoutsAttribute(defaults: Timeouts): Attribute {
  const entries = Object.entries(defaults).map(([name, standard]) => [
    name,
    string({
      mode: "optional",
      description: `How long ${name} may take, such as \`90s\`, \`10m\` or \`1h30m\`. Default \`${standard}\`.`,
      validators: [checkDuration],
    }),
  ]);
  return nestedObject({
    mode: "optional",
    description: "How long each operation may take before it is given up.",
    attributes: Object.fromEntries(entries),
  });
}

/** Milliseconds that an operation may take: what the configuration says, else the type's default. */
export function timeoutOf(name: OperationName, defaults: Timeouts, configured: Value): number | undefined {
  const own = isObject(configured) ? configured[name] : undefined;
  const text = typeof own === "string" ? own : defaults[name];
  return text === undefined ? undefined : parseDuration(text);
}
