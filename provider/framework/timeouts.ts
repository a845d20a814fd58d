// SPDX-License-Identifier: Apache-2.0
import type { Attribute, Attributes, Validator } from "./attribute.ts";
import { optional } from "./attributes.ts";
import { isObject, type Value } from "./value.ts";

export type OperationName = "create" | "read" | "update" | "delete" | "invoke";

/** The default of each operation that takes time, e.g. `{ create: "30m" }`. An operation left out is not limited. */
export type Timeouts = Partial<Readonly<Record<OperationName, string>>>;

/** The `timeouts` attribute that the framework adds to a type, so that every type has the same one. */
export function timeoutsAttribute(defaults: Timeouts): Attribute {
  const entries = Object.entries(defaults).map(([name, standard]) => [
    name,
    optional.string(`How long ${name} may take, such as \`90s\`, \`10m\` or \`1h30m\`. Default \`${standard}\`.`, {
      validators: [checkDuration],
    }),
  ]);
  return optional.nestedObject(
    "How long each operation may take before it is given up.",
    Object.fromEntries(entries) as Attributes,
  );
}

/** Milliseconds that an operation may take: what the configuration says, else the type's default. */
export function timeoutOf(name: OperationName, defaults: Timeouts, configured: Value): number | undefined {
  const own = isObject(configured) ? configured[name] : undefined;
  const text = typeof own === "string" ? own : defaults[name];
  return text === undefined ? undefined : parseDuration(text);
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds of a duration such as `90s`, `10m` or `1h30m`; undefined when the text is not one. */
export function parseDuration(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join("") !== text) return undefined;
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ""] ?? 0), 0);
}

/** Refuses text that is no duration. */
export const checkDuration: Validator<string> = (value, path, diagnostics) => {
  if (parseDuration(value) !== undefined) return;
  diagnostics.error({
    summary: "Not a duration",
    detail: `Found ${JSON.stringify(value)}; expected a duration such as 90s, 10m or 1h30m.`,
    path,
  });
};

/** The time that an operation has. Time that it spends waiting for others is not counted. */
export interface OperationClock {
  /** Milliseconds; undefined where the operation is not limited. */
  readonly limit: number | undefined;
  /** From here on others are waited for. */
  stop(): void;
  /** From here on the operation has all its time. */
  restart(): void;
}

export const noClock: OperationClock = { limit: undefined, stop: () => undefined, restart: () => undefined };

/** A longer one would end at once: timers count in 31 bits. It is 24 days. */
const longestTimer = 2 ** 31 - 1;

/** A clock that runs, and calls `ring` when the time is over. To be stopped at the end. */
export function startClock(limit: number, ring: () => void): OperationClock {
  let timer: NodeJS.Timeout | undefined;
  const stop = () => clearTimeout(timer);
  const restart = () => {
    stop();
    timer = setTimeout(ring, Math.min(limit, longestTimer));
  };
  restart();
  return { limit, stop, restart };
}
