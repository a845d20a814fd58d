// SPDX-License-Identifier: Apache-2.0
import type { Path } from "./yaml-source.ts";

/** `workers[0].labels`, as people write a place in data. */
export function formatPath(path: Path): string {
  return path.map((step, index) => (typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`)).join("");
}

/** A value as it is shown in a message: short, on one line. */
export function formatFound(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "nothing (null)";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : `a list of ${value.length}`;
  if (typeof value === "object") return "a mapping";
  // Numbers beyond what JavaScript counts exactly come as BigInt, which JSON does not know.
  const text = typeof value === "bigint" ? value.toString() : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…"` : text;
}
