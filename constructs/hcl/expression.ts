// SPDX-License-Identifier: Apache-2.0
import { jsonEncode } from "../terraform/index.ts";

/** Values as they stand in Terraform's JSON. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

const widest = 100;

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

/** The place after the `}` that closes the `${` at `start`. */
function endOfTemplate(text: string, start: number): number {
  let depth = 0;
  for (let index = start + 1; index < text.length; index += 1) {
    if (text[index] === "{") depth += 1;
    else if (text[index] === "}") {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return text.length;
}

/** `${expression}` and nothing around it: the expression; else undefined. */
function soleExpression(text: string): string | undefined {
  return /^\$\{/.test(text) && endOfTemplate(text, 0) === text.length ? text.slice(2, -1) : undefined;
}

function printText(text: string, indent: string): string {
  const expression = soleExpression(text);
  if (expression !== undefined) return expression;
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

/** An expression in HCL, in the form that `terraform fmt` leaves alone. */
function printValue(value: Json, indent: string, oneLine = true): string {
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "string") return printText(value, indent);
  if (oneLine) {
    const short = inline(value);
    if (short !== undefined && indent.length + short.length <= widest) return short;
  }
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return `[\n${value.map((item: Json) => `${inner}${printValue(item, inner)},`).join("\n")}\n${indent}]`;
  }
  const entries = Object.entries(value as JsonObject);
  return entries.length === 0 ? "{}" : `{\n${printAssignments(entries, inner, printKey)}\n${indent}}`;
}

/** Simple values on one line; undefined when that would not be readable. */
function inline(value: Json): string | undefined {
  if (!Array.isArray(value) && !isObject(value)) return printValue(value, "");
  const parts = (Array.isArray(value) ? value : Object.values(value)).map((item: Json) => inline(item));
  if (parts.some((part) => part === undefined || part.includes("\n") || part.includes("\\n"))) return undefined;
  if (Array.isArray(value)) return parts.every((part) => !part?.startsWith("{")) ? `[${parts.join(", ")}]` : undefined;
  const keys = Object.keys(value);
  if (keys.length > 2) return undefined;
  return keys.length === 0 ? "{}" : `{ ${keys.map((key, index) => `${printKey(key)} = ${parts[index]}`).join(", ")} }`;
}

/** Lines of `name = value`, as they are in a block or in an object. */
export function printAssignments(
  entries: readonly (readonly [string, Json])[],
  indent: string,
  name: (key: string) => string,
): string {
  return alignLines(
    entries.map(([key, value]) => {
      const heredoc = typeof value === "string" ? printHeredoc(value, indent) : undefined;
      return { name: name(key), text: heredoc ?? printValue(value, indent) };
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
