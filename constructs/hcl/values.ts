// SPDX-License-Identifier: Apache-2.0
import { jsonEncode } from "./expression.ts";

/** A value that only an apply can tell. */
export const unknown: unique symbol = Symbol("known after apply");

/** A value as Terraform plans it: JSON, with `unknown` for what is known only after the apply. */
export type Value = typeof unknown | string | number | boolean | null | readonly Value[] | Values;
export type Values = { readonly [key: string]: Value };

/** Gives its value where these names are in reach; any other, such as a resource's, is of what only an apply knows. */
export type Expression = (scope: Values) => Value;

/** Terraform would refuse to evaluate this, unless a `try` is around it. */
class Refused extends Error {}

export function refuse(): never {
  throw new Refused();
}

/** Undefined where Terraform would refuse. */
export function attempt<T>(evaluate: () => T): T | undefined {
  try {
    return evaluate();
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

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

/** Whether no part of it is unknown. */
function isWhollyKnown(value: Value): boolean {
  if (value === unknown) return false;
  if (isList(value)) return value.every(isWhollyKnown);
  return !isMap(value) || Object.values(value).every(isWhollyKnown);
}

/** What a template and a map's key make of a value. */
export function textOf(value: Value): string | typeof unknown {
  if (typeof value === "string" || value === unknown) return value;
  if (typeof value === "boolean") return String(value);
  if (typeof value !== "number") refuse();
  // Terraform writes all digits where others have an exponent.
  return /^-?[\d.]+$/.test(String(value)) ? String(value) : unknown;
}

/** The part of a value at a key or an index. `__proto__` is a key as any other. */
export function partAt(value: Value, key: Value): Value {
  const text = textOf(key);
  if (value === unknown || text === unknown) return unknown;
  const ofMap = isMap(value) && Object.hasOwn(value, text) ? value[text] : undefined;
  const found = isList(value) && !isSet(value) ? value[Number(text)] : ofMap;
  return found === undefined ? refuse() : found;
}

/** Keys and values as `for` gives them. */
export function elementsOf(collection: Value): readonly (readonly [Value, Value])[] {
  if (isSet(collection)) return collection.map((item) => [item, item]);
  if (isList(collection)) return collection.map((item, index) => [index, item]);
  return entriesOf(collection);
}

/** In the order in which Terraform goes through a map or an object: by the code points of the keys. */
function entriesOf(map: Value): readonly (readonly [string, Value])[] {
  if (!isMap(map)) refuse();
  return Object.entries(map).sort(([left], [right]) => byCodePoint(left, right));
}

/** UTF-16, in which texts are compared here, has another order than code points only where it needs surrogates. */
function byCodePoint(left: string, right: string): number {
  if (/[\ud800-\udfff]/.test(left + right)) return Buffer.compare(Buffer.from(left), Buffer.from(right));
  return left < right ? -1 : Number(left > right);
}

/** Patches and policies that are JSON; Terraform escapes what means something in HTML. */
function encode(value: Value): Value {
  const text = isWhollyKnown(value) ? jsonEncode(value) : unknown;
  return text === unknown || /[<>&\u2028\u2029]/.test(text) ? unknown : text;
}

/** Of texts; other elements would be converted to one type. */
function toSet(value: Value): Value {
  if (!isList(value) || !value.every((item) => typeof item === "string")) return unknown;
  const items = [...new Set(value)].sort(byCodePoint);
  sets.add(items);
  return items;
}

/** The functions that generated stacks call, but for `try`, whose arguments may be refused. */
const functions = new Map<string, (...args: readonly Value[]) => Value>([
  ["concat", (...lists) => lists.flatMap((list) => (isList(list) && !isSet(list) ? list : refuse()))],
  ["keys", (map = null) => entriesOf(map).map(([key]) => key)],
  ["jsonencode", (value = null) => encode(value)],
  ["length", (value = null) => (typeof value === "string" ? unknown : elementsOf(value).length)],
  ["merge", (...maps) => Object.fromEntries(maps.filter((map) => map !== null).flatMap(entriesOf))],
  ["toset", (value = null) => toSet(value)],
  ["values", (map = null) => entriesOf(map).map(([, value]) => value)],
]);

/** The result of a function of Terraform; unknown for one that no generated stack calls. */
export function callFunction(name: string, args: readonly Expression[], scope: Values): Value {
  if (name === "try") return firstOf(args, scope);
  const known = functions.get(name);
  const values = args.map((arg) => arg(scope));
  return known === undefined || values.includes(unknown) ? unknown : known(...values);
}

/** What is not wholly known may turn out to be refused, and then the next one is taken. */
function firstOf(args: readonly Expression[], scope: Values): Value {
  for (const arg of args) {
    const value = attempt(() => arg(scope));
    if (value !== undefined) return isWhollyKnown(value) ? value : unknown;
  }
  return refuse();
}
