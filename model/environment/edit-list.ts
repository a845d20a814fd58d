// SPDX-License-Identifier: Apache-2.0
import {
  Document,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  parseDocument,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { TalosError } from "../../talos/errors.ts";
import { parseYamlDocument } from "../../talos/yaml/index.ts";
import { formatPath } from "./path.ts";
import type { Path } from "./yaml-source.ts";

/** An item of a list in a YAML file. */
export interface ListItem {
  /** What it says: the text itself where it is one, else its YAML, no further indented than it has to be. */
  readonly text: string;
  readonly isText: boolean;
  /** The line of the file, from 1, that `text` begins on. */
  readonly line: number;
}

// Scalars are kept as they are written, whatever they mean.
const asWritten = { schema: "failsafe", uniqueKeys: false } as const;

/** The items of the list at a path, or undefined when the file has none there. */
export function listItems(text: string, file: string, path: Path): readonly ListItem[] | undefined {
  return findList(text, file, path)?.items.map(({ item }) => item);
}

/**
 * The file's text with other documents in place of some items of a list; every other byte stays. An item that is text
 * stays text; another one becomes as many items as there are documents.
 */
export function replaceItems(
  text: string,
  file: string,
  path: Path,
  changes: ReadonlyMap<number, readonly string[]>,
): string {
  const list = findList(text, file, path);
  if (list === undefined) throw byHand(file, path);
  if (list.items.length > 0 && list.items.every((_, index) => changes.get(index)?.length === 0))
    return splice(text, list.start, list.end, "[]");
  // From the end, so that the places of the items before stay what they are.
  const indexes = [...changes.keys()].sort((a, b) => b - a);
  const written = indexes.reduce((now, index) => replaceItem(now, file, path, index, changes.get(index) ?? []), text);
  return withLineEndsOf(text, written);
}

function replaceItem(text: string, file: string, path: Path, index: number, documents: readonly string[]): string {
  const list = findList(text, file, path);
  const found = list?.items[index];
  if (list === undefined || found === undefined) throw byHand(file, path);
  const { item, start, end, dash } = found;
  if (documents.length === 0) return withoutItem(text, list, index);
  const whole = documents.join("---\n");
  if (list.isFlow)
    return splice(text, start, end, item.isText ? JSON.stringify(whole) : documents.map(inFlow).join(", "));
  const pieces = item.isText ? [asText(whole, dash)] : documents.map((one) => indented(one, dash + 2));
  return splice(text, start, end, pieces.join(`\n${" ".repeat(dash)}- `));
}

/** The file's text with documents before the first item of a list, which is made where it is not there. */
export function prependItems(text: string, file: string, path: Path, documents: readonly string[]): string {
  return documents.length === 0 ? text : withLineEndsOf(text, prepended(text, file, path, documents));
}

function prepended(text: string, file: string, path: Path, documents: readonly string[]): string {
  const list = findList(text, file, path);
  const [first] = list?.items ?? [];
  if (list !== undefined && first !== undefined) {
    if (list.isFlow) return splice(text, first.start, first.start, `${documents.map(inFlow).join(", ")}, `);
    const at = startOfComments(text, text.lastIndexOf("-", first.start - 1));
    const indent = " ".repeat(first.dash);
    const items = documents.map((one) => `${indent}- ${indented(one, first.dash + 2)}\n`);
    return splice(text, at, at, items.join(""));
  }
  if (list !== undefined) return splice(text, list.start, list.end, `[ ${documents.map(inFlow).join(", ")} ]`);
  return withNewList(text, file, path, documents);
}

interface FoundList {
  readonly isFlow: boolean;
  readonly start: number;
  readonly end: number;
  readonly items: readonly FoundItem[];
}

interface FoundItem {
  readonly item: ListItem;
  readonly start: number;
  readonly end: number;
  /** Column of the dash, from 0. */
  readonly dash: number;
}

function findList(text: string, file: string, path: Path): FoundList | undefined {
  // Refuses what the loader refuses, and what the yaml package alone would choke on.
  parseYamlDocument(text, file);
  const node = parseDocument(text, asWritten).getIn(path, true);
  if (node === undefined || (isScalar(node) && node.value === "")) return undefined;
  if (!isSeq(node) || node.anchor !== undefined) throw byHand(file, path);
  const items = node.items.map((item) => {
    if (!isNode(item) || ("anchor" in item && item.anchor) || item.tag || !item.range) throw byHand(file, path);
    return foundItem(text, node, item.range[0], item.range[1], isScalar(item) ? String(item.value) : undefined);
  });
  const [start = 0, end = 0] = node.range ?? [];
  const last = items.at(-1);
  return { isFlow: node.flow === true, start, end: node.flow ? end : (last?.end ?? end), items };
}

function foundItem(text: string, list: YAMLSeq, start: number, end: number, scalar: string | undefined): FoundItem {
  const line = lineAt(text, start);
  const dash = columnOf(text, text.lastIndexOf("-", start - 1));
  if (scalar !== undefined) {
    const isBlock = /^[|>]/.test(text.slice(start, end));
    // What stands behind `|` begins on the next line.
    const item = { text: scalar, isText: true, line: isBlock ? line + 1 : line };
    return { item, start, end: start + text.slice(start, end).trimEnd().length, dash };
  }
  if (list.flow) return { item: { text: text.slice(start, end), isText: false, line }, start, end, dash };
  const last = endOfItem(text, start, dash);
  const column = columnOf(text, start);
  const lines = text.slice(start, last).split(/\r?\n/);
  const inner = lines.map((one, index) =>
    index === 0 ? one : one.slice(Math.min(column, /^ */.exec(one)?.[0].length ?? 0)),
  );
  return { item: { text: `${inner.join("\n")}\n`, isText: false, line }, start, end: last, dash };
}

/** The package counts comments before the next key to the item before it: what is indented less is not the item's. */
function endOfItem(text: string, start: number, dash: number): number {
  let end = endOfLine(text, start);
  for (let at = end + 1; at < text.length; at = endOfLine(text, at) + 1) {
    const line = text.slice(at, endOfLine(text, at));
    if (line.trim() === "") continue;
    if ((/^ */.exec(line)?.[0].length ?? 0) <= dash) break;
    end = at + line.trimEnd().length;
  }
  return text[end - 1] === "\r" ? end - 1 : end;
}

/** The beginning of the line, or of the comments right above it. */
function startOfComments(text: string, offset: number): number {
  let start = text.lastIndexOf("\n", offset - 1) + 1;
  while (start > 0) {
    const before = text.lastIndexOf("\n", start - 2) + 1;
    if (!/^\s*#/.test(text.slice(before, start))) break;
    start = before;
  }
  return start;
}

function withoutItem(text: string, { isFlow, items }: FoundList, index: number): string {
  const [item, next, before] = [items[index], items[index + 1], items[index - 1]];
  if (item === undefined) return text;
  if (isFlow)
    return next === undefined
      ? splice(text, before?.end ?? item.start, item.end, "")
      : splice(text, item.start, next.start, "");
  const from = text.lastIndexOf("\n", text.lastIndexOf("-", item.start - 1)) + 1;
  return splice(text, from, Math.min(endOfLine(text, item.end) + 1, text.length), "");
}

/** Makes the list at the end of the deepest section that is there. */
function withNewList(text: string, file: string, path: Path, documents: readonly string[]): string {
  const [root, known] = deepest(text, path);
  const missing = path.slice(known).map(String);
  if (root === undefined) {
    const start = text === "" || text.endsWith("\n") ? text : `${text}\n`;
    return `${start}${newSection(missing, documents, 0)}\n`;
  }
  if (root.anchor !== undefined) throw byHand(file, path);
  const [start = 0, end = 0] = root.range ?? [];
  if (root.flow) {
    const piece = missing.reduceRight(
      (inner, key, index) => {
        const entry = `${key}: ${inner}`;
        return index === 0 ? entry : `{ ${entry} }`;
      },
      `[ ${documents.map(inFlow).join(", ")} ]`,
    );
    const inside = text.slice(0, end - 1).trimEnd();
    return `${inside}${root.items.length === 0 ? " " : ", "}${piece} ${text.slice(end - 1)}`;
  }
  const column = columnOf(text, start);
  const last = endOfItem(text, start, column - 1);
  return splice(text, last, last, `\n${" ".repeat(column)}${newSection(missing, documents, column)}`);
}

function deepest(text: string, path: Path): readonly [YAMLMap | undefined, number] {
  const document = parseDocument(text, asWritten);
  for (let length = path.length - 1; length >= 0; length -= 1) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isMap(node) && (node.items.length > 0 || node.flow)) return [node, length];
  }
  return [undefined, 0];
}

function newSection(keys: readonly string[], documents: readonly string[], column: number): string {
  const [key = "", ...rest] = keys;
  const inner = column + 2;
  const gap = `\n${" ".repeat(inner)}`;
  if (rest.length > 0) return `${key}:${gap}${newSection(rest, documents, inner)}`;
  return `${key}:${documents.map((one) => `${gap}- ${indented(one, inner + 2)}`).join("")}`;
}

function indented(document: string, by: number): string {
  const [first = "", ...rest] = document.trimEnd().split("\n");
  return [first, ...rest.map((line) => (line === "" ? "" : `${" ".repeat(by)}${line}`))].join("\n");
}

function asText(value: string, dash: number): string {
  return `|\n${" ".repeat(dash + 2)}${indented(value, dash + 2)}`;
}

function inFlow(document: string): string {
  const { contents } = parseDocument(document, asWritten);
  if (isNode(contents))
    visit(contents, {
      Node(_, node) {
        node.commentBefore = null;
        node.comment = null;
        node.spaceBefore = false;
        if (isCollection(node)) node.flow = true;
        else if (isScalar(node) && node.type?.startsWith("BLOCK")) node.type = "QUOTE_DOUBLE";
      },
    });
  return new Document(contents, asWritten).toString({ lineWidth: 0 }).trimEnd();
}

function splice(text: string, start: number, end: number, piece: string): string {
  return text.slice(0, start) + piece + text.slice(end);
}

function withLineEndsOf(text: string, written: string): string {
  return text.includes("\r\n") ? written.replace(/\r?\n/g, "\r\n") : written;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf("\n", offset - 1) + 1);
}

function endOfLine(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end < 0 ? text.length : end;
}

function byHand(file: string, path: Path): TalosError {
  return new TalosError("failed-precondition", `${file} writes ${formatPath(path)} in a way that is not changed here`, {
    hint: "Write it as a plain list, without anchors, aliases and tags, and run this again.",
  });
}
