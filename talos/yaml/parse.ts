// SPDX-License-Identifier: Apache-2.0
import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type ParsedNode,
  Parser,
  type Scalar,
} from "yaml";
import { TalosError } from "../errors.ts";
import { resolvePlainScalar, type ScalarValue } from "./scalar.ts";

/**
 * The one way YAML from outside comes in. The `yaml` package alone aborts the process on deep nesting, takes minutes
 * on many keys and keeps `<<` as a key; what leaves here is a small tree without aliases, every node with its place.
 */
export type YamlNode = YamlScalar | YamlSequence | YamlMapping;

interface Placed {
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
}

export interface YamlScalar extends Placed {
  readonly kind: "scalar";
  /** The text without quotes. */
  readonly text: string;
  /** Not quoted, so that it may be a number, a boolean or null. */
  readonly plain: boolean;
  /** Where it is written in the text, quotes included: from the first offset up to the second. Absent if not written. */
  readonly source?: readonly [start: number, end: number];
}

interface YamlSequence extends Placed {
  readonly kind: "sequence";
  readonly items: readonly YamlNode[];
}

export interface YamlMapping extends Placed {
  readonly kind: "mapping";
  readonly entries: readonly YamlEntry[];
}

export interface YamlEntry {
  readonly key: YamlScalar;
  readonly value: YamlNode;
}

const maximumBytes = 1024 * 1024;
const maximumDepth = 100;
// The document, the levels, and what is in the innermost one.
const maximumStack = maximumDepth + 2;
const maximumAliases = 50;
const maximumNodes = 200_000;

export interface ParseYamlOptions {
  /** Gets the error of each key that is there already; its first value counts then. @default throws it */
  readonly onDuplicate?: (error: TalosError) => void;
}

/** Reads all documents of a text. An empty document is a plain empty scalar. Every error names file:line:column. */
export function parseYaml(text: string, fileName: string, options: ParseYamlOptions = {}): readonly YamlNode[] {
  const bytes = Buffer.byteLength(text);
  if (bytes > maximumBytes) {
    throw new TalosError(
      "invalid-input",
      `${fileName}: found ${bytes} bytes of YAML, expected at most ${maximumBytes}`,
      {
        hint: "Split the file, or move large contents out of it.",
      },
    );
  }
  const lines = new LineCounter();
  const tokens = parseTokens(text, lines, fileName);
  // Only the text of scalars is wanted here; what it means is decided later.
  const composer = new Composer({ schema: "failsafe", uniqueKeys: false, prettyErrors: false });
  const documents = [...composer.compose(tokens, false, text.length)];
  return documents.map((document) => new TreeBuilder(document, lines, fileName, options).build());
}

/** Reads a text that must hold exactly one document. */
export function parseYamlDocument(text: string, fileName: string, options: ParseYamlOptions = {}): YamlNode {
  const [first, second] = parseYaml(text, fileName, options);
  if (second !== undefined) throw faultAt(fileName, second, "found a second YAML document, expected one");
  return first ?? { kind: "scalar", text: "", plain: true, line: 1, column: 1 };
}

/** An `invalid-input` error that points at a place. */
export function faultAt(fileName: string, place: Placed, message: string, hint?: string): TalosError {
  return new TalosError("invalid-input", `${fileName}:${place.line}:${place.column}: ${message}`, { hint });
}

/** The node at a path of keys and indexes. */
export function nodeAt(root: YamlNode, path: readonly PropertyKey[]): YamlNode | undefined {
  return path.reduce<YamlNode | undefined>((node, step) => node && childOf(node, step), root);
}

function childOf(node: YamlNode, step: PropertyKey): YamlNode | undefined {
  if (node.kind === "sequence") return node.items[Number(step)];
  if (node.kind === "mapping") return node.entries.find((entry) => entry.key.text === String(step))?.value;
  return undefined;
}

/** Plain data: objects, arrays and scalars, with the scalar rules of Go's YAML (`010` is 8, `no` is a string). */
export function toPlainData(node: YamlNode): unknown {
  switch (node.kind) {
    case "scalar": {
      const value = scalarValue(node);
      return typeof value === "object" && value !== null ? value.toData() : value;
    }
    case "sequence":
      return node.items.map(toPlainData);
    case "mapping":
      return Object.fromEntries(node.entries.map((entry) => [entry.key.text, toPlainData(entry.value)]));
  }
}

/** A mapping as plain data. */
export type Data = { readonly [key: string]: unknown };

export function isData(value: unknown): value is Data {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What stands at a path of keys and indexes in plain data; undefined where the way ends before. */
export function dataAt(data: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[step] : undefined,
    data,
  );
}

/** What a scalar means: quoted text is a string, plain text is resolved. */
export function scalarValue(node: YamlScalar): ScalarValue {
  return node.plain ? resolvePlainScalar(node.text) : node.text;
}

/**
 * What `Parser.parse` does, with an eye on its stack: it leaves nested blocks by a call for each level, and where calls
 * run out of stack while a regular expression is compiled, V8 ends the process.
 */
function parseTokens(text: string, lines: LineCounter, fileName: string): readonly CST.Token[] {
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    const innermost = parser.stack.at(-1);
    if (innermost !== undefined && parser.stack.length > maximumStack) {
      const { line, col } = lines.linePos(innermost.offset);
      throw faultAt(fileName, { line, column: col }, `found more than ${maximumDepth} levels of nesting`);
    }
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

interface Anchored {
  readonly node: YamlNode;
  /** How many values it holds, itself counted: what each alias adds to the whole. */
  readonly size: number;
}

class TreeBuilder {
  readonly #document: Document.Parsed;
  readonly #lines: LineCounter;
  readonly #fileName: string;
  readonly #options: ParseYamlOptions;
  readonly #anchors = new Map<string, Anchored>();
  #aliases = 0;
  #nodes = 0;

  constructor(document: Document.Parsed, lines: LineCounter, fileName: string, options: ParseYamlOptions) {
    this.#options = options;
    this.#document = document;
    this.#lines = lines;
    this.#fileName = fileName;
  }

  build(): YamlNode {
    const [fault] = this.#document.errors;
    if (fault !== undefined) throw this.#fault(fault.pos[0], safeMessage(fault));
    const contents: ParsedNode | null = this.#document.contents;
    if (contents !== null) return this.#node(contents);
    return { kind: "scalar", text: "", plain: true, ...this.#place(this.#document.range[0]) };
  }

  #node(node: Node): YamlNode {
    const offset = node.range?.[0] ?? 0;
    if (isAlias(node)) return this.#alias(node.source, offset, node.range?.[1] ?? offset);
    const before = this.#nodes;
    this.#count(1, offset);
    const built = this.#unaliased(node, offset);
    const anchor = "anchor" in node ? node.anchor : undefined;
    if (anchor !== undefined) this.#anchors.set(anchor, { node: built, size: this.#nodes - before });
    return built;
  }

  #unaliased(node: Node, offset: number): YamlNode {
    const place = this.#place(offset);
    if (isScalar(node)) return scalarNode(node, place);
    if (isSeq(node)) return { kind: "sequence", items: node.items.map((item) => this.#node(item as Node)), ...place };
    if (isMap(node)) return { kind: "mapping", entries: this.#entries(node.items), ...place };
    throw this.#fault(offset, "found a kind of YAML node that is not supported");
  }

  #entries(pairs: readonly { readonly key: unknown; readonly value: unknown }[]): readonly YamlEntry[] {
    const entries = new Map<string, YamlEntry>();
    const merged: YamlEntry[] = [];
    for (const pair of pairs) {
      const key = this.#node(pair.key as Node);
      if (key.kind !== "scalar") throw faultAt(this.#fileName, key, "found a list or map as a key, expected text");
      const value = pair.value === null ? absent(key) : this.#node(pair.value as Node);
      if (key.plain && key.text === "<<") {
        merged.push(...this.#mergedEntries(value));
        continue;
      }
      const first = entries.get(key.text);
      if (first !== undefined) {
        this.#refuseAgain(key, first);
        continue;
      }
      if (key.text === "__proto__") throw faultAt(this.#fileName, key, 'found key "__proto__", which is not allowed');
      entries.set(key.text, { key, value });
    }
    // Own keys win over merged ones, and of several merged maps the first wins.
    for (const entry of merged) if (!entries.has(entry.key.text)) entries.set(entry.key.text, entry);
    return [...entries.values()];
  }

  #refuseAgain(key: YamlScalar, first: YamlEntry): void {
    const message = `found key ${JSON.stringify(key.text)} again, first defined at line ${first.key.line}`;
    const error = faultAt(this.#fileName, key, message, "Keep one of the two.");
    if (this.#options.onDuplicate === undefined) throw error;
    this.#options.onDuplicate(error);
  }

  #mergedEntries(value: YamlNode): readonly YamlEntry[] {
    if (value.kind === "mapping") return value.entries;
    if (value.kind === "sequence") return value.items.flatMap((item) => this.#mergedEntries(item));
    throw faultAt(this.#fileName, value, 'found a scalar under "<<", expected a map to merge');
  }

  #alias(name: string, offset: number, end: number): YamlNode {
    this.#aliases += 1;
    if (this.#aliases > maximumAliases) throw this.#fault(offset, `found more than ${maximumAliases} aliases`);
    const anchored = this.#anchors.get(name);
    if (anchored === undefined) throw this.#fault(offset, "found an alias (*) without a finished anchor before it");
    this.#count(anchored.size, offset);
    return anchored.node.kind === "scalar" ? { ...anchored.node, source: [offset, end] } : anchored.node;
  }

  #count(values: number, offset: number): void {
    this.#nodes += values;
    if (this.#nodes > maximumNodes) throw this.#fault(offset, `found more than ${maximumNodes} values`);
  }

  #place(offset: number): Placed {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  }

  #fault(offset: number, message: string): TalosError {
    return faultAt(this.#fileName, this.#place(offset), message);
  }
}

/** The parser's words for these end with a piece of the file, which may be a secret. */
const quoting =
  /^(Block scalar header includes extra characters|Invalid escape sequence|Not a YAML token|Unexpected \S+ token in YAML (?:document|stream)).*/s;
/** Whatever else is as long as a key or token is left out, unless it is one of the parser's own words. */
const longWord = /(?<!\S)(?!(?:(?:double|single)-quoted-scalar|directives-end\/doc-start)(?!\S))\S{20,}/g;

function safeMessage(fault: { readonly code: string; readonly message: string }): string {
  if (fault.code === "TAG_RESOLVE_FAILED") return 'found text that begins with "!", a tag in YAML; put it in quotes';
  return fault.message.replace(quoting, "$1").replace(longWord, "…");
}

function scalarNode(node: Scalar, place: Placed): YamlScalar {
  const text = typeof node.value === "string" ? node.value : "";
  const source = node.range == null ? {} : { source: [node.range[0], node.range[1]] as const };
  return { kind: "scalar", text, plain: node.type === "PLAIN" && node.tag === undefined, ...source, ...place };
}

/** The value of a key that has none. */
function absent({ line, column }: YamlScalar): YamlScalar {
  return { kind: "scalar", text: "", plain: true, line, column };
}
