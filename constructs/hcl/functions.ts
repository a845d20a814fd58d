// SPDX-License-Identifier: Apache-2.0
import { isDeepStrictEqual } from "node:util";

/** A value that only an apply can tell. */
export const unknown: unique symbol = Symbol("known after apply");

/** A value as Terraform plans it: JSON, with `unknown` for what is known only after the apply. */
export type Value =
  | typeof unknown
  | string
  | number
  | boolean
  | null
  | readonly Value[]
  | { readonly [key: string]: Value };

type Values = { readonly [key: string]: Value };

/** Terraform would refuse to evaluate this, unless a `try` is around it. */
export class EvaluationError extends Error {}

/** Lists that are sets: `for_each` takes them, `for` gives their elements no index, and nothing reads one by its index. */
const sets = new WeakSet<readonly Value[]>();

export function isSet(value: Value): value is readonly Value[] {
  return isList(value) && sets.has(value);
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function isMap(value: Value): value is Values {
  return typeof value === "object" && value !== null && !isList(value);
}

/** In the order in which Terraform goes through a map or an object: by the code points of the keys. */
export function entriesOf(map: Values): readonly (readonly [string, Value])[] {
  return Object.entries(map).sort(([left], [right]) => byCodePoint(left, right));
}

/** UTF-16, in which texts are compared here, has another order than code points only where it needs surrogates. */
function byCodePoint(left: string, right: string): number {
  if (/[\ud800-\udfff]/.test(left + right)) return Buffer.compare(Buffer.from(left), Buffer.from(right));
  return left < right ? -1 : Number(left > right);
}

/** Whether no part of it is unknown. */
export function isWhollyKnown(value: Value): boolean {
  if (value === unknown) return false;
  if (isList(value)) return value.every(isWhollyKnown);
  return !isMap(value) || Object.values(value).every(isWhollyKnown);
}

/** What a template and a map's key make of a value. */
export function toText(value: Value): string {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  // Others are written with an exponent here, and with all their digits by Terraform.
  if (typeof value === "number" && /^-?[\d.]+$/.test(String(value))) return String(value);
  throw new EvaluationError();
}

export function toNumber(value: Value): number {
  if (typeof value === "number") return value;
  if (typeof value === "string" && /^-?\d{1,15}$/.test(value)) return Number(value);
  throw new EvaluationError();
}

export function toBoolean(value: Value): boolean {
  if (value === true || value === "true") return true;
  if (value === false || value === "false") return false;
  throw new EvaluationError();
}

/** The values in the one type that all of them have as elements of a list or a map, or as branches of a condition. */
export function unify(values: readonly Value[]): readonly Value[] {
  const isGiven = (value: Value) => value !== null && value !== unknown;
  const unified = unifyGiven(values.filter(isGiven));
  let next = 0;
  return values.map((value) => (isGiven(value) ? (unified[next++] ?? null) : value));
}

function unifyGiven(values: readonly Value[]): readonly Value[] {
  if (values.length < 2) return values;
  if (values.some(isSet)) return unifySets(values);
  if (values.every(isList)) {
    const sameLength = new Set(values.map(({ length }) => length)).size === 1;
    return unifyParts(values, sameLength);
  }
  if (values.every(isMap)) {
    const entries = values.map(entriesOf);
    const keys = entries.map((found) => found.map(([key]) => key));
    const sameKeys = keys.every((found) => isDeepStrictEqual(found, keys[0]));
    const parts = unifyParts(
      entries.map((found) => found.map(([, value]) => value)),
      sameKeys,
    );
    return parts.map((items, index) =>
      Object.fromEntries((keys[index] ?? []).map((key, place) => [key, items[place] ?? null])),
    );
  }
  if (new Set(values.map((value) => typeof value)).size === 1) return values;
  if (values.some((value) => typeof value === "string")) return values.map(toText);
  throw new EvaluationError();
}

/** Sets of one type stay as they are; elements that have to be converted get another order, which Terraform knows. */
function unifySets(values: readonly Value[]): readonly Value[] {
  const types = new Set(values.filter(isList).flatMap((items) => items.map((item) => typeof item)));
  return values.every(isSet) && types.size < 2 ? values : values.map(() => unknown);
}

/** Part by part where all have the same ones, as tuples and objects may; else all parts have one type, as in lists. */
function unifyParts(all: readonly (readonly Value[])[], same: boolean): readonly (readonly Value[])[] {
  const [first = []] = all;
  if (same) {
    const columns = first.map((_, place) => unify(all.map((parts) => parts[place] ?? null)));
    return all.map((_, index) => columns.map((column) => column[index] ?? null));
  }
  const flat = unify(all.flat());
  let begin = 0;
  return all.map(({ length }) => {
    begin += length;
    return flat.slice(begin - length, begin);
  });
}

function markSet(items: readonly Value[]): readonly Value[] {
  sets.add(items);
  return items;
}

/** Of collections inside of a set Terraform alone knows the order. */
function toSet(value: Value): Value {
  if (value === null || isSet(value)) return value;
  if (!isList(value)) throw new EvaluationError();
  const items = [...new Set(unify(value))];
  if (items.every((item) => typeof item === "string")) return markSet(items.sort(byCodePoint));
  if (items.every((item) => typeof item === "number")) return markSet(items.sort((left, right) => left - right));
  return unknown;
}

function toList(value: Value): Value {
  if (value === null) return value;
  if (!isList(value)) throw new EvaluationError();
  return [...unify(value)];
}

function toMap(value: Value): Value {
  if (value === null) return value;
  const entries = entriesOf(mapFrom(value));
  const unified = unify(entries.map(([, item]) => item));
  return Object.fromEntries(entries.map(([key], index) => [key, unified[index] ?? null]));
}

function mapFrom(value: Value): Values {
  if (!isMap(value)) throw new EvaluationError();
  return value;
}

function merge(...maps: readonly Value[]): Value {
  return Object.fromEntries(maps.filter((map) => map !== null).flatMap((map) => Object.entries(mapFrom(map))));
}

function concat(...lists: readonly Value[]): Value {
  return lists.flatMap((list) => {
    if (!isList(list) || isSet(list)) throw new EvaluationError();
    return list;
  });
}

function length(value: Value): Value {
  if (typeof value === "string") return [...new Intl.Segmenter().segment(value)].length;
  return isList(value) ? value.length : Object.keys(mapFrom(value)).length;
}

function lookup(map: Value, key: Value, ...fallback: readonly Value[]): Value {
  const found = own(mapFrom(map), toText(key));
  const result = found === undefined ? fallback[0] : found;
  if (result === undefined) throw new EvaluationError();
  return result;
}

/** An entry of the map itself: `__proto__` is a key as any other. */
export function own(map: Values, key: string): Value | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/** The first that is neither null nor empty; what comes before it must be known. */
function coalesce(...values: readonly Value[]): Value {
  const found = unify(values).find((value) => value !== null && value !== "");
  if (found === undefined) throw new EvaluationError();
  return found;
}

function join(separator: Value, ...lists: readonly Value[]): Value {
  const items = lists.flatMap((list) => {
    if (!isList(list)) throw new EvaluationError();
    return list;
  });
  return items.map(toText).join(toText(separator));
}

/** `%s`, `%d`, `%v` and `%%`, and `%d` filled up with zeros; any other verb is left to Terraform. */
function format(pattern: Value, ...args: readonly Value[]): Value {
  let next = 0;
  let readable = true;
  const text = toText(pattern).replaceAll(/%(?:(0\d+)?d|[sv%]|)/g, (verb, width: string | undefined) => {
    if (verb === "%%") return "%";
    const arg = args[next++];
    if (arg === undefined) throw new EvaluationError();
    readable &&= verb !== "%" && !isList(arg) && !isMap(arg) && arg !== null;
    if (!readable) return "";
    return verb.endsWith("d") ? decimal(toNumber(arg), Number(width ?? 0)) : toText(arg);
  });
  if (!readable) return unknown;
  if (next < args.length) throw new EvaluationError();
  return text;
}

function decimal(value: number, width: number): string {
  if (!Number.isSafeInteger(value)) throw new EvaluationError();
  const digits = String(Math.abs(value));
  return value < 0 ? `-${digits.padStart(width - 1, "0")}` : digits.padStart(width, "0");
}

/** As Terraform writes it: keys in order, and nothing that means something in HTML. */
function jsonEncode(value: Value): string {
  if (isList(value)) return `[${value.map(jsonEncode).join(",")}]`;
  if (isMap(value)) return `{${entriesOf(value).map(([key, item]) => `${jsonEncode(key)}:${jsonEncode(item)}`)}}`;
  if (typeof value !== "string") return value === null ? "null" : toText(value);
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replaceAll(/[<>&\u2028\u2029]/g, escaped);
}

type Function = (...args: readonly Value[]) => Value;

/** Functions that look into their arguments only as far as these are known. */
const ofParts: ReadonlyMap<string, Function> = new Map<string, Function>([
  ["merge", merge],
  ["concat", concat],
  ["tolist", (value = unknown) => toList(value)],
  ["tomap", (value = unknown) => toMap(value)],
  ["keys", (map = unknown) => entriesOf(mapFrom(map)).map(([key]) => key)],
  ["values", (map = unknown) => entriesOf(mapFrom(map)).map(([, value]) => value)],
  ["length", (value = unknown) => length(value)],
  ["lookup", (map = unknown, key = unknown, ...fallback) => lookup(map, key, ...fallback)],
]);

/** Functions of which nothing is known while a part of an argument is not. */
const ofWhole: ReadonlyMap<string, Function> = new Map<string, Function>([
  ["toset", (value = unknown) => toSet(value)],
  ["coalesce", coalesce],
  ["format", (pattern = unknown, ...args) => format(pattern, ...args)],
  ["join", (separator = unknown, ...lists) => join(separator, ...lists)],
  ["jsonencode", (value = unknown) => jsonEncode(value)],
]);

/** The result of a function of Terraform; unknown for a function that is not among those above. */
export function callFunction(name: string, args: readonly Value[]): Value {
  const parts = ofParts.get(name);
  if (parts !== undefined) return args.includes(unknown) ? unknown : parts(...args);
  const whole = ofWhole.get(name);
  return whole !== undefined && args.every(isWhollyKnown) ? whole(...args) : unknown;
}
