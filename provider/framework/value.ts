// SPDX-License-Identifier: Apache-2.0
import { Decimal, type NumberValue, numberText } from "./decimal.ts";

/** What is known of an unknown value. Carried through unchanged, so that Terraform loses nothing by asking us. */
export interface Refinement {
  /** False: certainly not null. True: certainly null. */
  readonly isNull?: boolean;
  readonly stringPrefix?: string;
  readonly numberMin?: NumberBound;
  readonly numberMax?: NumberBound;
  readonly lengthMin?: number;
  readonly lengthMax?: number;
}

export interface NumberBound {
  readonly value: NumberValue;
  readonly inclusive: boolean;
}

/** A value that will be known after apply. */
export class Unknown {
  readonly refinement: Refinement | undefined;
  constructor(refinement?: Refinement) {
    this.refinement = refinement;
  }
}

/** A value in a place of type `dynamic`, with the type it brought along. */
export class Dynamic {
  readonly type: Type;
  readonly value: Value;
  constructor(type: Type, value: Value) {
    this.type = type;
    this.value = value;
  }
}

/** Any Terraform value. Maps and objects are plain objects without prototype; sets are arrays in any order. */
export type Value = null | Unknown | Dynamic | string | boolean | NumberValue | readonly Value[] | ObjectValue;

export interface ObjectValue {
  readonly [name: string]: Value;
}

export const unknown = new Unknown();

export function isUnknown(value: unknown): value is Unknown {
  return value instanceof Unknown;
}

export function isNumber(value: Value): value is NumberValue {
  return typeof value === "number" || typeof value === "bigint" || value instanceof Decimal;
}

export function isObject(value: Value): value is ObjectValue {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Unknown) &&
    !(value instanceof Dynamic) &&
    !(value instanceof Decimal)
  );
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** An object without prototype, so that a map may have a key called `constructor` or `__proto__`. */
export function objectValue(entries: Iterable<readonly [string, Value]>): ObjectValue {
  const object: Record<string, Value> = Object.create(null);
  for (const [name, value] of entries) object[name] = value;
  return object;
}

/** True when nothing inside is unknown. */
export function isWhollyKnown(value: Value): boolean {
  if (isUnknown(value)) return false;
  if (value instanceof Dynamic) return isWhollyKnown(value.value);
  if (isList(value)) return value.every(isWhollyKnown);
  if (isObject(value)) return Object.values(value).every(isWhollyKnown);
  return true;
}

/** Equality as Terraform sees it: numbers by value, sets without order, an unknown equal to an unknown only. */
export function valuesEqual(type: Type, left: Value, right: Value): boolean {
  if (left === right) return true;
  // Most values are texts, and most of the others absent.
  if (left === null || right === null || typeof left === "string" || typeof right === "string") return false;
  if (isObject(left) && isObject(right)) {
    const names = Object.keys(left);
    const equal = (name: string) =>
      Object.hasOwn(right, name) && valuesEqual(elementType(type, name), left[name] ?? null, right[name] ?? null);
    return names.length === Object.keys(right).length && names.every(equal);
  }
  return fingerprint(type, left) === fingerprint(type, right);
}

/** A text that two values share exactly when they are equal. */
function fingerprint(type: Type, value: Value): string {
  if (value === null) return "null";
  if (isUnknown(value)) return "unknown";
  if (value instanceof Dynamic) return `dynamic ${JSON.stringify(value.type)} ${fingerprint(value.type, value.value)}`;
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "boolean") return String(value);
  if (isNumber(value)) return numberText(value);
  if (isList(value)) {
    const items = value.map((item, index) => fingerprint(elementType(type, index), item));
    if (type.kind === "set") items.sort();
    return `[${items.join()}]`;
  }
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, item]) => `${JSON.stringify(name)}:${fingerprint(elementType(type, name), item)}`).join()}}`;
}

/** The type of one element of a collection, or of one attribute of an object. */
export function elementType(type: Type, step: string | number): Type {
  if (type.kind === "list" || type.kind === "set" || type.kind === "map") return type.element;
  const inner =
    type.kind === "object" ? type.attributes[step] : type.kind === "tuple" ? type.elements[Number(step)] : undefined;
  return inner ?? { kind: "dynamic" };
}

/** The types of Terraform's language ("cty"). `dynamic` stands for a value that brings its own type. */
export type Type =
  | { readonly kind: "string" | "number" | "bool" | "dynamic" }
  | { readonly kind: "list" | "set" | "map"; readonly element: Type }
  | { readonly kind: "object"; readonly attributes: Readonly<Record<string, Type>> }
  | { readonly kind: "tuple"; readonly elements: readonly Type[] };

export const stringType: Type = { kind: "string" };
export const numberType: Type = { kind: "number" };
export const boolType: Type = { kind: "bool" };
export const dynamicType: Type = { kind: "dynamic" };
export const listOf = (element: Type): Type => ({ kind: "list", element });
export const setOf = (element: Type): Type => ({ kind: "set", element });
export const mapOf = (element: Type): Type => ({ kind: "map", element });
export const objectOf = (attributes: Readonly<Record<string, Type>>): Type => ({ kind: "object", attributes });

/** The JSON notation of a type that Terraform uses in schemas and dynamic values. */
export function typeToJson(type: Type): unknown {
  switch (type.kind) {
    case "list":
    case "set":
    case "map":
      return [type.kind, typeToJson(type.element)];
    case "object":
      return [
        "object",
        Object.fromEntries(Object.entries(type.attributes).map(([name, inner]) => [name, typeToJson(inner)])),
      ];
    case "tuple":
      return ["tuple", type.elements.map(typeToJson)];
    default:
      return type.kind;
  }
}

const deepest = 500;

/** The inverse of {@link typeToJson}. Throws on anything that is not a type, or is nested deeper than any real one. */
export function typeFromJson(json: unknown, depth = 0): Type {
  if (depth > deepest) throw new RangeError("the type is nested too deep");
  const inside = (inner: unknown) => typeFromJson(inner, depth + 1);
  if (json === "string" || json === "number" || json === "bool" || json === "dynamic") return { kind: json };
  if (Array.isArray(json)) {
    const [kind, inner] = json as [unknown, unknown];
    if (kind === "list" || kind === "set" || kind === "map") return { kind, element: inside(inner) };
    if (kind === "tuple" && Array.isArray(inner)) return { kind, elements: inner.map(inside) };
    if (kind === "object" && typeof inner === "object" && inner !== null)
      return objectOf(Object.fromEntries(Object.entries(inner).map(([name, type]) => [name, inside(type)])));
  }
  const found = typeof json === "string" ? JSON.stringify(json) : Array.isArray(json) ? "a list" : `${typeof json}`;
  throw new TypeError(`not a Terraform type: ${found}`);
}
