// SPDX-License-Identifier: Apache-2.0
import { isAlias, isMap, isScalar, isSeq, type Pair, parseDocument, Scalar, type YAMLMap } from "yaml";
import { TalosError } from "../../talos/errors.ts";
import { parseYamlDocument } from "../../talos/yaml/index.ts";

/** A key of a section, or of what the steps below it lead to: keys of maps, numbers of items. */
export type ValuePath = readonly [section: string, ...(string | number)[]];

/**
 * The text of a YAML file with one value of one of its sections changed, or added when it is not there: first in its
 * section, or after the key `after`. Every other byte stays: comments, order, line ends.
 */
export function editValue(text: string, file: string, path: ValuePath, value: string, after?: string): string {
  // Refuses what the loader refuses, and what the yaml package alone would choke on.
  parseYamlDocument(text, file);
  const document = parseDocument(text, { keepSourceTokens: true });
  const root = document.contents;
  const [section] = path;
  const key = path[path.length - 1] as string;
  const refuse = () => byHand(file, path.join("."));
  const around = isMap(root) ? entryOf(root, section) : undefined;
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  if (around === undefined)
    return `${withFinalNewline(text, newline)}${section}:${newline}  ${key}: ${value}${newline}`;
  if (isScalar(around.value) && around.value.value === null) {
    const end = endOf(around.key);
    const colon = text.indexOf(":", end) + 1;
    return splice(text, colon, colon, ` { ${key}: ${value} }`);
  }
  const map = path.slice(1, -1).reduce<unknown>(innerOf, around.value);
  if (!isMap(map) || map.anchor !== undefined) throw refuse();
  const found = entryOf(map, key);
  if (found !== undefined) return replaceScalar(text, found.value, value, refuse);
  if (map.flow) {
    const start = startOf(map) + 1;
    return splice(text, start, start, map.items.length === 0 ? ` ${key}: ${value} ` : ` ${key}: ${value},`);
  }
  const first = map.items[0];
  if (first === undefined) throw refuse();
  const start = startOf(first.key);
  const previous = after === undefined ? undefined : entryOf(map, after)?.value;
  if (isScalar(previous) && previous.type !== undefined && /^(PLAIN|QUOTE)/.test(previous.type)) {
    const end = text.indexOf(newline, endOf(previous));
    const indent = " ".repeat(start - (text.lastIndexOf("\n", start - 1) + 1));
    if (end >= 0) return splice(text, end, end, `${newline}${indent}${key}: ${value}`);
  }
  const before = text.slice(text.lastIndexOf("\n", start - 1) + 1, start);
  // The first key of a list's item stands behind its dash.
  if (!/^[ -]*$/.test(before)) throw refuse();
  return splice(text, start, start, `${key}: ${value}${newline}${" ".repeat(before.length)}`);
}

/**
 * The same without one of the values of a section; a comment behind it goes along. A text that does not have it stays as
 * it is, also where it is the section's only value.
 */
export function removeValue(text: string, file: string, path: ValuePath): string {
  parseYamlDocument(text, file);
  const root = parseDocument(text, { keepSourceTokens: true }).contents;
  const map = path.slice(0, -1).reduce<unknown>(innerOf, root);
  const key = String(path[path.length - 1]);
  const index = isMap(map) ? map.items.findIndex((item) => isScalar(item.key) && item.key.value === key) : -1;
  if (!isMap(map) || index < 0 || map.items.length === 1) return text;
  const [found, next, last] = [map.items[index], map.items[index + 1], map.items[index - 1]];
  if (!isScalar(found?.value)) return text;
  if (map.flow && next !== undefined) return splice(text, startOf(found.key), startOf(next.key), "");
  if (map.flow) return splice(text, endOf(last?.value), endOf(found.value), "");
  const start = text.lastIndexOf("\n", startOf(found.key) - 1) + 1;
  const end = text.indexOf("\n", endOf(found.value));
  return splice(text, start, end < 0 ? text.length : end + 1, "");
}

/** Undefined also below an anchor: what is changed there would change in other places, too. */
function innerOf(node: unknown, step: string | number): unknown {
  if (isSeq(node) && typeof step === "number") return node.items[step];
  return isMap(node) && node.anchor === undefined ? entryOf(node, String(step))?.value : undefined;
}

type Entry = Pair<unknown, unknown>;

function entryOf(map: YAMLMap<unknown, unknown>, key: string): Entry | undefined {
  return map.items.find((item) => isScalar(item.key) && item.key.value === key);
}

function replaceScalar(text: string, node: unknown, value: string, refuse: () => TalosError): string {
  if (isAlias(node) || !isScalar(node) || node.anchor !== undefined || node.tag !== undefined) throw refuse();
  const quote = node.type === Scalar.QUOTE_DOUBLE ? '"' : node.type === Scalar.QUOTE_SINGLE ? "'" : "";
  if (quote === "" && node.type !== Scalar.PLAIN) throw refuse();
  if (node.value === null) throw refuse();
  return splice(text, startOf(node), endOf(node), `${quote}${value}${quote}`);
}

function startOf(node: unknown): number {
  return (node as { range?: readonly number[] }).range?.[0] ?? 0;
}

function endOf(node: unknown): number {
  return (node as { range?: readonly number[] }).range?.[1] ?? 0;
}

function splice(text: string, start: number, end: number, piece: string): string {
  return text.slice(0, start) + piece + text.slice(end);
}

function withFinalNewline(text: string, newline: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}${newline}`;
}

function byHand(file: string, path: string): TalosError {
  return new TalosError("failed-precondition", `${file} writes ${path} in a way that is not changed here`, {
    hint: `Change it by hand (an anchor, an alias or a text over several lines), then deploy.`,
  });
}
