// SPDX-License-Identifier: Apache-2.0
import { oneLine, plainText } from "../../talos/plain-text.ts";
import { wrapped } from "./wrap.ts";

/** Columns as wide as their widest cell, three spaces apart, headings in capitals: the form of kubectl and talosctl. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings.map((heading) => heading.toUpperCase()), ...rows.map((row) => row.map(oneLine))];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const padded = (line: readonly string[]) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("   ");
  return lines.map((line) => `${padded(line).trimEnd()}\n`).join("");
}

/**
 * The same with sentences in the last column: on a terminal of so many columns they are broken between words, below each other.
 */
export function tableWithText(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number | undefined,
): string {
  const before = headings.slice(0, -1).map((heading, column) => {
    const cells = [heading, ...rows.map((row) => row[column] ?? "")];
    return Math.max(...cells.map((cell) => cell.length)) + 3;
  });
  const start = before.reduce((sum, width) => sum + width, 0);
  if (columns === undefined || columns - start < narrowestText) return table(headings, rows);
  const split = rows.flatMap((row) => {
    const lines = plainText(row.at(-1) ?? "")
      .split("\n")
      .filter((line) => line.trim() !== "")
      .flatMap((line) => wrapped(line, columns - start).split("\n"));
    const [first = "", ...others] = lines;
    return [[...row.slice(0, -1), first], ...others.map((line) => [...row.slice(0, -1).map(() => ""), line])];
  });
  return table(headings, split);
}

/** Less is not worth a column. */
const narrowestText = 16;

type Cell = string | number | boolean | null | undefined;

/** The same of objects: a column for each of these keys, `-` where an object has none. */
export function tableOf<K extends string>(
  keys: readonly K[],
  rows: readonly { readonly [key in NoInfer<K>]?: Cell }[],
): string {
  return table(
    keys,
    rows.map((row) => keys.map((key) => cellText(row[key]))),
  );
}

function cellText(value: Cell): string {
  return typeof value === "boolean" ? (value ? "yes" : "no") : String(value ?? "-");
}

/** For programs: what is printed once, to be read by people as well. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** For programs: one of many lines, or a short answer. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
