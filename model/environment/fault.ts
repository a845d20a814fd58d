// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";

/** A place in a file that a person wrote. Lines and columns count from one. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The text of that line. */
  readonly text: string;
}

/** One thing that is wrong, or unwise, in an environment file. */
export interface Fault {
  readonly position: Position;
  /** Where in the data, as `workers[0].count`; empty for the whole file. */
  readonly path: string;
  readonly found: string;
  readonly expected: string;
  /** What to do about it. */
  readonly hint: string;
  /** A second place that has to do with it. */
  readonly also?: Position;
  /** There is no such file, hence no line to show. */
  readonly absent?: true;
}

const widest = 120;

/** The line with a mark below the place; of a long line only what is around the place. */
function excerpt({ line, column, text }: Position): string {
  const gutter = " ".repeat(String(line).length);
  const printable = [...text].map((character) => (character < " " ? " " : character)).join("");
  const start = printable.length <= widest ? 0 : Math.max(0, column - 1 - widest / 2);
  const shown = printable.slice(start, start + widest);
  const [before, after] = [start > 0 ? "…" : "", start + widest < printable.length ? "…" : ""];
  const mark = " ".repeat(before.length + column - 1 - start);
  return `  ${line} | ${before}${shown}${after}\n  ${gutter} | ${mark}^`;
}

/** One fault as a person reads it: place, excerpt, found, expected, what to do. */
export function formatFault(fault: Fault): string {
  const { position, also, absent = false } = fault;
  const place = `${position.file}:${position.line}:${position.column}: ${fault.path === "" ? "the file" : fault.path}`;
  const lines = [
    ...(absent ? [position.file] : [place, excerpt(position)]),
    ...(also ? [`  and ${also.file}:${also.line}:${also.column}:`, excerpt(also)] : []),
    `  found ${fault.found}`,
    `  expected ${fault.expected}`,
    `  → ${fault.hint}`,
  ];
  return lines.join("\n");
}

function byPlace({ position: left }: Fault, { position: right }: Fault): number {
  const byFile = left.file < right.file ? -1 : left.file > right.file ? 1 : 0;
  return byFile || left.line - right.line || left.column - right.column;
}

/** Everything that is wrong with one environment, at once. */
export class EnvironmentError extends TalosError {
  readonly environment: string;
  readonly faults: readonly Fault[];

  constructor(environment: string, found: readonly Fault[]) {
    const faults = [...found].sort(byPlace);
    const count = faults.length === 1 ? "1 error" : `${faults.length} errors`;
    super("invalid-input", `${count} in environment ${environment}\n\n${faults.map(formatFault).join("\n\n")}`);
    this.environment = environment;
    this.faults = faults;
  }
}
