// SPDX-License-Identifier: Apache-2.0

/** Values as they stand in Terraform's JSON. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

const widest = 100;
const widestRow = 140;

/** A value as Terraform's jsonencode writes it: keys in order, those that look like numbers as well. */
export function jsonEncode(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonEncode).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  entries.sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${jsonEncode(inner)}`).join()}}`;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A key of an object: bare when HCL takes it so. */
function printKey(key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(key) ? key : quote(key);
}

const named: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function isControl(character: string): boolean {
  const code = character.charCodeAt(0);
  return code < 0x20 || code === 0x7f;
}

function escapeCharacter(character: string): string {
  const unicode = () => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return named[character] ?? (isControl(character) ? unicode() : character);
}

/** Text in quotes. Templates in it stay templates, as they are in JSON. */
function quote(text: string): string {
  return `"${mapLiterals(text, (literal) => [...literal].map(escapeCharacter).join(""))}"`;
}

/** Applies `change` to the text between `${…}`, which must not be touched: quotes in there belong to the expression. */
function mapLiterals(text: string, change: (literal: string) => string): string {
  let result = "";
  let rest = text;
  while (rest !== "") {
    const start = rest.search(/(?<!\$)\$\{/);
    if (start === -1) return result + change(rest);
    const end = endOfTemplate(rest, start);
    result += change(rest.slice(0, start)) + rest.slice(start, end);
    rest = rest.slice(end);
  }
  return result;
}

/** The place after the `}` that closes the `${` at `start`. Braces in its texts are none. */
function endOfTemplate(text: string, start: number): number {
  let depth = 0;
  let index = start + 1;
  while (index < text.length) {
    const character = text[index];
    index = character === '"' ? endOfQuotes(text, index) : index + 1;
    if (character === "{") depth += 1;
    if (character === "}") depth -= 1;
    if (depth === 0) return index;
  }
  return text.length;
}

/** The place after the quote that closes the one at `start`; a template in between has quotes of its own. */
function endOfQuotes(text: string, start: number): number {
  const next = /\\.|(?<!\$)\$\{|"/g;
  next.lastIndex = start + 1;
  for (let match = next.exec(text); match !== null; match = next.exec(text)) {
    if (match[0] === '"') return next.lastIndex;
    if (match[0] === "${") next.lastIndex = endOfTemplate(text, match.index);
  }
  return text.length;
}

/** `${expression}` and nothing around it: the expression; else undefined. */
function soleExpression(text: string): string | undefined {
  return /^\$\{/.test(text) && endOfTemplate(text, 0) === text.length ? text.slice(2, -1) : undefined;
}

function printText(text: string, indent: string): string {
  const expression = soleExpression(text);
  // Of an expression over several lines, the first stands behind the name; no text in it has a line break of its own.
  if (expression !== undefined) return expression.replaceAll("\n", `\n${indent}`);
  const document = jsonDocument(text);
  if (document !== undefined) return `jsonencode(${printValue(document, indent, false)})`;
  return quote(text);
}

/** The value of a text that is a JSON object, exactly as Terraform's jsonencode would write it. */
function jsonDocument(text: string): JsonObject | undefined {
  if (!text.startsWith("{") || /[<>&\u2028\u2029]/.test(text)) return undefined;
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) && jsonEncode(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A text of several lines that may be written as such, directly after `name = `. */
function printHeredoc(text: string, indent: string): string | undefined {
  const lines = text.split("\n");
  const last = lines.pop();
  if (last !== "" || lines.length < 2) return undefined;
  // The least indented line must have no indent, because that much is taken off every line.
  if (lines[0]?.startsWith(" ") || jsonDocument(text.trim()) !== undefined) return undefined;
  if (lines.some((line) => line.trim() === "EOT" || line.trimEnd() !== line || [...line].some(isControl)))
    return undefined;
  const body = lines.map((line) => (line === "" ? "" : `${indent}  ${line}`));
  return `<<-EOT\n${body.join("\n")}\n${indent}EOT`;
}

/** A value inside of a larger expression, where no heredoc can stand. */
export function printInside(value: Json, indent: string): string {
  return printValue(value, indent, true, false);
}

/** An expression in HCL, in the form that `terraform fmt` leaves alone. */
function printValue(value: Json, indent: string, oneLine = true, heredocs = true): string {
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "string") return printText(value, indent);
  if (oneLine) {
    const short = inline(value);
    if (short !== undefined && indent.length + short.length <= widest) return short;
  }
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    const items = value.map((item: Json) => `${inner}${printValue(item, inner, true, heredocs)},`);
    return `[\n${items.join("\n")}\n${indent}]`;
  }
  const entries = Object.entries(value as JsonObject);
  return entries.length === 0 ? "{}" : `{\n${printAssignments(entries, inner, printKey, heredocs)}\n${indent}}`;
}

/** The `locals` block. A map has a line for each of its rows, where that fits. */
export function printLocals(locals: JsonObject): string {
  const maps = Object.entries(locals).map(([name, value]) => {
    if (!isObject(value) || !Object.values(value).every(isObject))
      return printAssignments([[name, value]], "  ", printKey);
    const rows = Object.entries(value).map(([key, row]) => {
      const line = inline(row, Number.POSITIVE_INFINITY);
      const text = line !== undefined && line.length <= widestRow ? line : printValue(row, "    ", false);
      return { name: printKey(key), text };
    });
    return `  ${printKey(name)} = {\n${alignLines(rows, "    ")}\n  }`;
  });
  return `locals {\n${maps.join("\n\n")}\n}`;
}

/** Simple values on one line; undefined when that would not be readable. */
function inline(value: Json, mostKeys = 2): string | undefined {
  if (!Array.isArray(value) && !isObject(value)) return printValue(value, "");
  const parts = (Array.isArray(value) ? value : Object.values(value)).map((item: Json) => inline(item));
  if (parts.some((part) => part === undefined || part.includes("\n") || part.includes("\\n"))) return undefined;
  if (Array.isArray(value)) return parts.every((part) => !part?.startsWith("{")) ? `[${parts.join(", ")}]` : undefined;
  const keys = Object.keys(value);
  if (keys.length > mostKeys) return undefined;
  return keys.length === 0 ? "{}" : `{ ${keys.map((key, index) => `${printKey(key)} = ${parts[index]}`).join(", ")} }`;
}

/** Lines of `name = value`, as they are in a block or in an object. */
export function printAssignments(
  entries: readonly (readonly [string, Json])[],
  indent: string,
  name: (key: string) => string,
  heredocs = true,
): string {
  return alignLines(
    entries.map(([key, value]) => {
      const heredoc = heredocs && typeof value === "string" ? printHeredoc(value, indent) : undefined;
      return { name: name(key), text: heredoc ?? printValue(value, indent, true, heredocs) };
    }),
    indent,
  );
}

export interface Line {
  readonly name: string;
  readonly text: string;
}

/** Puts the equals signs of neighbours below each other; an expression over several lines ends a neighbourhood. */
export function alignLines(lines: readonly Line[], indent: string): string {
  const alone = ({ text }: Line) => text.includes("\n") && !text.startsWith("<<-");
  const widths: number[] = [];
  let group: number[] = [];
  const close = () => {
    const width = Math.max(0, ...group.map((index) => lines[index]?.name.length ?? 0));
    for (const index of group) widths[index] = width;
    group = [];
  };
  lines.forEach((line, index) => {
    if (alone(line)) close();
    else group.push(index);
  });
  close();
  return lines.map(({ name, text }, index) => `${indent}${name.padEnd(widths[index] ?? 0)} = ${text}`).join("\n");
}
