// SPDX-License-Identifier: Apache-2.0

/** The value at a print column's path, such as `{.stage}` or `{.addresses[*].ip}`, as one cell of a table. */
export function cellAt(value: unknown, path: string): string {
  const parts = path.replace(/^\{|\}$/g, "").match(/\["?[^\]"]+"?\]|[^.[\]]+/g) ?? [];
  const found = parts.reduce<unknown[]>((values, part) => values.flatMap((one) => step(one, part)), [value]);
  return found.map(cell).join(" ");
}

function step(value: unknown, part: string): unknown[] {
  if (part === "[*]") return Array.isArray(value) ? value : Object.values(value ?? {});
  const key = part.replace(/^\["?|"?\]$/g, "");
  const next = (value as Record<string, unknown> | undefined | null)?.[key];
  return next === undefined ? [] : [next];
}

function cell(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}
