// SPDX-License-Identifier: Apache-2.0
import type { Validator } from "./attribute.ts";

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
