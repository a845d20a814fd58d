// SPDX-License-Identifier: Apache-2.0
import type { Contract } from "../../version/index.ts";
import { type YamlFloat, YamlPlain } from "../../yaml/index.ts";
import { zeroWord } from "../schema/enums.ts";
import { decisiveFields, type Field, type FieldType, structOf } from "../schema/schema.ts";

/**
 * A decoded value. A section is a map from keys to values in which an unset field is absent; null stands only inside
 * free-form objects.
 */
export type Value = string | number | bigint | boolean | null | YamlFloat | YamlPlain | Value[] | Section;
export type Section = Map<string, Value>;

export function isSection(value: Value | undefined): value is Section {
  return value instanceof Map;
}

/** The value at a path of keys, or undefined when anything on the way is unset. */
export function valueAt(section: Section | undefined, path: string): Value | undefined {
  let current: Value | undefined = section;
  for (const key of path.split(".")) {
    if (!isSection(current)) return undefined;
    current = current.get(key);
  }
  return current;
}

export function sectionAt(section: Section | undefined, path: string): Section | undefined {
  const value = valueAt(section, path);
  return isSection(value) ? value : undefined;
}

/** The text at a path; empty when unset. */
export function textAt(section: Section | undefined, path: string): string {
  const value = valueAt(section, path);
  return typeof value === "string" ? value : "";
}

export function listAt(section: Section | undefined, path: string): readonly Value[] {
  const value = valueAt(section, path);
  return Array.isArray(value) ? value : [];
}

export function sectionsAt(section: Section | undefined, path: string): readonly Section[] {
  return listAt(section, path).filter(isSection);
}

export function textsAt(section: Section | undefined, path: string): readonly string[] {
  return listAt(section, path).map(String);
}

/** Whether Talos would call the value unset: the zero value of its type, not held by pointer. */
export function isZero(value: Value | undefined, type: FieldType, contract: Contract): boolean {
  if (value === undefined) return true;
  switch (type.kind) {
    case "scalar":
      return value === "" || value === 0 || value === false || (value instanceof YamlPlain && value.text === "0o0");
    case "enum":
      return value === "" || value === zeroWord(type.name);
    case "struct": {
      if (!isSection(value)) return false;
      const { byKey } = structOf(type.name);
      const decisive = decisiveFields[type.name];
      return [...value].every(([key, inner]) => {
        const field = byKey.get(key);
        if (field === undefined || decisive?.includes(key) === false) return true;
        return isUnset(inner, field, contract);
      });
    }
    case "list":
      return Array.isArray(value) && value.length === 0;
    case "object":
    case "map":
    case "args":
      return isSection(value) && value.size === 0;
    case "pointer":
      return false;
  }
}

/** The same for a field, of which an empty list may count as set. */
export function isUnset(value: Value | undefined, { type, keepEmptySince }: Field, contract: Contract): boolean {
  const kept = keepEmptySince !== undefined && contract.includes(keepEmptySince) && Array.isArray(value);
  return !kept && isZero(value, type, contract);
}

/** A copy that shares nothing that can change. */
export function cloneValue<Kind extends Value>(value: Kind): Kind;
export function cloneValue(value: Value): Value {
  if (Array.isArray(value)) return value.map((item) => cloneValue(item));
  if (isSection(value)) return new Map([...value].map(([key, inner]) => [key, cloneValue(inner)]));
  return value;
}

/** Whether two values are the same all the way down; the order of keys does not matter. */
export function sameValue(left: Value | undefined, right: Value | undefined): boolean {
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => sameValue(item, right[index]));
  }
  if (isSection(left) && isSection(right)) {
    return left.size === right.size && [...left].every(([key, inner]) => sameValue(inner, right.get(key)));
  }
  if (typeof left === "object" && typeof right === "object" && left !== null && right !== null) {
    return left.constructor === right.constructor && String(left) === String(right);
  }
  return left === right;
}
