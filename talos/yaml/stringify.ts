// SPDX-License-Identifier: Apache-2.0
import { isFormerBoolean, isSexagesimal, resolvePlainScalar, YamlFloat, YamlPlain } from "./scalar.ts";

/** What can be written. Keys keep their order; an undefined value in an object is left out. */
export type YamlValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | YamlFloat
  | YamlPlain
  | readonly YamlValue[]
  | ReadonlyMap<string, YamlValue>
  | { readonly [key: string]: YamlValue | undefined };

export interface YamlLayout {
  readonly indent: number;
  /** Whether list items stand further right than the key they belong to. */
  readonly indentLists: boolean;
  /** Of words that only older YAML read as another type; what is one today has double quotes. @default double */
  readonly wordQuotes?: "double" | "single";
}

/** The form of Talos's own files. */
const talosLayout: YamlLayout = { indent: 4, indentLists: true };
/** The form that Talos writes after a JSON patch. */
export const compactLayout: YamlLayout = { indent: 2, indentLists: false };

/** Writes one document byte for byte as Go's YAML library does, with a final newline. */
export function stringifyYaml(value: YamlValue, layout: YamlLayout = talosLayout): string {
  return `${new Writer(layout).document(value)}\n`;
}

/** Writes several documents, with `---` between them. */
export function stringifyYamlDocuments(
  values: readonly YamlValue[],
  wordQuotes: "double" | "single" = "double",
): string {
  const layout = { ...talosLayout, wordQuotes };
  return values.map((value) => stringifyYaml(value, layout)).join("---\n");
}

/** Where a value stands, which decides how far its lines are indented. */
type Parent = "root" | "mapping" | "sequence";

class Writer {
  readonly #layout: YamlLayout;

  constructor(layout: YamlLayout) {
    this.#layout = layout;
  }

  document(value: YamlValue): string {
    const entries = mappingEntries(value);
    if (entries !== undefined) return entries.length === 0 ? "{}" : this.#mapping(entries, 0);
    if (isList(value)) return value.length === 0 ? "[]" : this.#sequence(value, 0);
    return this.#scalar(value, 0, "root");
  }

  /** Lines of a mapping whose keys stand at column `indent`; the first line comes without its indentation. */
  #mapping(entries: readonly (readonly [string, YamlValue])[], indent: number): string {
    const lines = entries.map(([key, value]) => {
      const written = this.#scalar(key, indent, "mapping", true);
      // Keys that are too long to be seen as such at once are marked.
      const long = Buffer.byteLength(written) > 128 || written.includes("\n");
      return long
        ? `? ${written}\n${pad(indent)}:${this.#value(value, indent)}`
        : `${written}:${this.#value(value, indent)}`;
    });
    return lines.join(`\n${pad(indent)}`);
  }

  #sequence(items: readonly YamlValue[], indent: number): string {
    return items.map((item) => `- ${this.#item(item, indent)}`).join(`\n${pad(indent)}`);
  }

  #item(item: YamlValue, indent: number): string {
    // The first indentation inside a list only skips its "- ".
    const inner = indent + 2;
    const entries = mappingEntries(item);
    if (entries !== undefined) return entries.length === 0 ? "{}" : this.#mapping(entries, inner);
    if (isList(item)) return item.length === 0 ? "[]" : this.#sequence(item, inner);
    return this.#scalar(item, indent, "sequence");
  }

  #value(value: YamlValue, indent: number): string {
    const entries = mappingEntries(value);
    if (entries !== undefined) {
      if (entries.length === 0) return " {}";
      const inner = this.#deeper(indent);
      return `\n${pad(inner)}${this.#mapping(entries, inner)}`;
    }
    if (isList(value)) {
      if (value.length === 0) return " []";
      const inner = this.#layout.indentLists ? this.#deeper(indent) : indent;
      return `\n${pad(inner)}${this.#sequence(value, inner)}`;
    }
    return ` ${this.#scalar(value, indent, "mapping")}`;
  }

  /** Everything but the inside of a list aligns to a multiple of the indentation. */
  #deeper(indent: number): number {
    const step = this.#layout.indent;
    return step * Math.floor((indent + step) / step);
  }

  #scalar(value: YamlValue, indent: number, parent: Parent, key = false): string {
    if (typeof value !== "string")
      return value instanceof YamlPlain ? value.text : value === null ? "null" : String(value);
    const facts = analyze(value);
    if (value.includes("\n")) {
      if (facts.blockAllowed && !key) {
        const inner =
          parent === "sequence" ? indent + 2 : parent === "root" ? this.#layout.indent : this.#deeper(indent);
        return literal(value, inner, inner - indent);
      }
      return doubleQuoted(value);
    }
    if (typeof resolvePlainScalar(value) !== "string") return doubleQuoted(value);
    if (isSexagesimal(value) || isFormerBoolean(value) || value === "<<")
      return this.#layout.wordQuotes === "single" ? `'${value}'` : doubleQuoted(value);
    if (facts.plainAllowed) return value;
    return facts.singleQuotedAllowed ? `'${value.replaceAll("'", "''")}'` : doubleQuoted(value);
  }
}

/**
 * Text in its lines. When the first one that is not empty begins with a space, the indentation is told. Talos 1.13
 * forgets that after empty lines, and inside lists tells a wrong number, so that its own files cannot be read back.
 */
function literal(value: string, indent: number, relative: number): string {
  const hint = /^\n* /.test(value) ? String(relative) : "";
  const chomp = value.endsWith("\n") ? (value.endsWith("\n\n") ? "+" : "") : "-";
  const body = value.endsWith("\n") ? value.slice(0, -1) : value;
  const lines = body.split("\n").map((line) => (line === "" ? "" : `${pad(indent)}${line}`));
  return `|${hint}${chomp}\n${lines.join("\n")}`;
}

function mappingEntries(value: YamlValue): readonly (readonly [string, YamlValue])[] | undefined {
  if (value instanceof Map) return [...value.entries()];
  if (value === null || typeof value !== "object" || isList(value)) return undefined;
  if (value instanceof YamlFloat || value instanceof YamlPlain) return undefined;
  return Object.entries(value).filter((entry): entry is [string, YamlValue] => entry[1] !== undefined);
}

function isList(value: YamlValue): value is readonly YamlValue[] {
  return Array.isArray(value);
}

/** What the reader of the written text gets, by the same rules as `toPlainData`. */
export function plainDataOf(value: YamlValue): unknown {
  if (value instanceof YamlFloat) return value.toData();
  if (value instanceof YamlPlain) {
    const meant = resolvePlainScalar(value.text);
    return typeof meant === "object" && meant !== null ? meant.toData() : meant;
  }
  if (isList(value)) return value.map(plainDataOf);
  const entries = mappingEntries(value);
  return entries === undefined ? value : Object.fromEntries(entries.map(([key, inner]) => [key, plainDataOf(inner)]));
}

interface ScalarFacts {
  readonly plainAllowed: boolean;
  readonly singleQuotedAllowed: boolean;
  readonly blockAllowed: boolean;
}

const blank = /^[ \t\n\r\u0085\u2028\u2029]?$/;

/** Names, versions, addresses and keys, which are nearly everything in a config: nothing in them is special in YAML. */
const unremarkable = /^[A-Za-z0-9](?:[A-Za-z0-9._/+=-]|:(?=[A-Za-z0-9._/+=-]))*$/;
const anyStyle: ScalarFacts = { plainAllowed: true, singleQuotedAllowed: true, blockAllowed: true };

/** Which styles can hold the text, by libyaml's rules. */
function analyze(value: string): ScalarFacts {
  return unremarkable.test(value) ? anyStyle : analyzeCharacters(value);
}

function analyzeCharacters(value: string): ScalarFacts {
  const characters = [...value];
  let indicator = value.startsWith("---") || value.startsWith("...");
  let special = false;
  let tab = false;
  let spaceBeforeBreak = false;
  let breakBeforeSpace = false;
  characters.forEach((character, index) => {
    const previous = characters[index - 1];
    const followedByBlank = blank.test(characters[index + 1] ?? "");
    if (index === 0) {
      if ("#,[]{}&*!|>'\"%@`".includes(character)) indicator = true;
      if ("?:-".includes(character) && followedByBlank) indicator = true;
    } else {
      if (character === ":" && followedByBlank) indicator = true;
      if (character === "#" && previous !== undefined && blank.test(previous)) indicator = true;
    }
    if (character === "\t") tab = true;
    else if (!isPrintable(character)) special = true;
    if (character === " " && previous === "\n") breakBeforeSpace = true;
    if (character === "\n" && previous === " ") spaceBeforeBreak = true;
  });
  const edge = /^[ \n]|[ \n]$/.test(value);
  const broken = spaceBeforeBreak || special;
  return {
    plainAllowed: !(indicator || edge || broken || tab || breakBeforeSpace || value.includes("\n")),
    singleQuotedAllowed: !(broken || tab || breakBeforeSpace),
    blockAllowed: !(broken || value.endsWith(" ") || value.trim() === ""),
  };
}

function isPrintable(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x0a || (code >= 0x20 && code <= 0x7e)) return true;
  if (code === 0xfeff || code === 0x2028 || code === 0x2029) return false;
  return (code >= 0xa0 && code <= 0xd7ff) || (code >= 0xe000 && code <= 0xfffd) || code >= 0x10000;
}

const escapes = new Map([
  ["\0", "\\0"],
  ["\x07", "\\a"],
  ["\b", "\\b"],
  ["\t", "\\t"],
  ["\n", "\\n"],
  ["\v", "\\v"],
  ["\f", "\\f"],
  ["\r", "\\r"],
  ["\x1b", "\\e"],
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\u0085", "\\N"],
  ["\u2028", "\\L"],
  ["\u2029", "\\P"],
]);

function doubleQuoted(value: string): string {
  const written = [...value].map((character) => {
    if (isPrintable(character) && !'"\\\n'.includes(character)) return character;
    const short = escapes.get(character);
    if (short !== undefined) return short;
    const code = character.codePointAt(0) ?? 0;
    const hex = code.toString(16).toUpperCase();
    if (code <= 0xff) return `\\x${hex.padStart(2, "0")}`;
    return code <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
  });
  return `"${written.join("")}"`;
}

function pad(width: number): string {
  return " ".repeat(width);
}
