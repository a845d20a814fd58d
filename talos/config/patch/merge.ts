// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../errors.ts";
import { YamlFloat, YamlPlain } from "../../yaml/index.ts";
import { cloneValue, isSection, type Section, sameValue, type Value } from "../document/value.ts";
import type { ConfigRules } from "../rules.ts";
import { zeroWord } from "../schema/enums.ts";
import { type Field, type FieldType, type Struct, structOf, unknownKind } from "../schema/schema.ts";

/**
 * Merges the right section into the left one, by the rules of each field. What the right side leaves unset stays;
 * a zero value (`""`, 0) counts as unset unless the field is held by pointer.
 */
export function mergeSections(left: Section, right: Section, struct: Struct, rules: ConfigRules): void {
  if (struct.name === unknownKind) {
    mergeUnknown(left, right);
    return;
  }
  for (const [key, value] of right) {
    const field = struct.byKey.get(key);
    if (field === undefined) continue;
    within(`merge field ${struct.name}.${field.name}`, () => mergeField(left, field, value, rules));
  }
}

function mergeField(left: Section, field: Field, right: Value, rules: ConfigRules): void {
  const current = left.get(field.key);
  const merged = mergeByRule(current, right, field, rules);
  if (merged !== undefined) left.set(field.key, merged);
}

function mergeByRule(left: Value | undefined, right: Value, field: Field, rules: ConfigRules): Value | undefined {
  const { merge, type } = field;
  switch (merge.kind) {
    case "replace":
      if (!rules.contract.includes(merge.since)) return mergeValues(left, right, type, { byPointer: false, rules });
      return type.kind === "object" && isSection(right) && right.size === 0 ? left : cloneValue(right);
    case "by":
      return mergeLists(left, right, type, (list, item) => mergeElement(list, item, type, merge.key, rules));
    case "replace-by":
      return mergeLists(left, right, type, (list, item) => replaceElement(list, item, merge.key));
    case "usual":
      return mergeValues(left, right, type, { byPointer: false, rules });
  }
}

/** Without a schema: sections are merged, lists are joined, and everything else is replaced. */
function mergeUnknown(left: Section, right: Section): void {
  for (const [key, value] of right) {
    const current = left.get(key);
    if (isSection(current) && isSection(value)) mergeUnknown(current, value);
    else if (Array.isArray(current) && Array.isArray(value)) left.set(key, [...current, ...cloneValue(value)]);
    else if (value !== null) left.set(key, cloneValue(value));
  }
}

interface Held {
  readonly byPointer: boolean;
  readonly rules: ConfigRules;
}

function mergeValues(left: Value | undefined, right: Value, type: FieldType, held: Held): Value | undefined {
  switch (type.kind) {
    case "pointer":
      return left === undefined ? cloneValue(right) : mergeValues(left, right, type.to, { ...held, byPointer: true });
    case "scalar":
      return !held.byPointer && (right === "" || right === 0) ? left : right;
    case "enum":
      return !held.byPointer && (right === "" || right === zeroWord(type.name)) ? left : right;
    case "list":
      return [left, cloneValue(right)].filter((list) => Array.isArray(list)).flat();
    case "map":
      return mergeMaps(left, right, type.of, held.rules);
    case "args":
      return new Map([left, cloneValue(right)].filter(isSection).flatMap((section) => [...section]));
    case "object": {
      const merged: Section = isSection(left) ? left : new Map();
      within(`merge field ${held.rules.freeFormType}.Object`, () =>
        mergeFreeForm(merged, isSection(right) ? right : new Map()),
      );
      return merged;
    }
    case "struct": {
      // The halves of two pairs would not belong together.
      if (type.name.startsWith("x509.")) return cloneValue(right);
      const merged: Section = isSection(left) ? left : new Map();
      if (isSection(right)) mergeSections(merged, right, structOf(type.name), held.rules);
      return merged;
    }
  }
}

function mergeMaps(left: Value | undefined, right: Value, type: FieldType, rules: ConfigRules): Section {
  const merged: Section = isSection(left) ? left : new Map();
  if (!isSection(right)) return merged;
  for (const [key, value] of right) {
    const current = merged.get(key);
    const next =
      current === undefined ? cloneValue(value) : mergeValues(current, value, type, { byPointer: false, rules });
    if (next !== undefined) merged.set(key, next);
  }
  return merged;
}

function mergeFreeForm(left: Section, right: Section): void {
  for (const [key, value] of right) {
    const current = left.get(key);
    if (value === null) continue;
    if (current === undefined || current === null) left.set(key, cloneValue(value));
    else left.set(key, mergeFreeValues(current, value, key));
  }
}

function mergeFreeValues(left: Value, right: Value, key: string): Value {
  const [leftType, rightType] = [goType(left), goType(right)];
  if (leftType !== rightType) {
    throw new TalosError("invalid-input", `merge type mismatch left ${leftType} right ${rightType}`, {
      hint: `Make ${key} in the patch the same kind of value as in the config, or delete it first with "$patch: delete".`,
    });
  }
  if (Array.isArray(left) && Array.isArray(right)) return [...left, ...right.map((item) => cloneValue(item))];
  if (isSection(left) && isSection(right)) {
    within(`merge map key map[string]interface {}[${key}]`, () => mergeFreeForm(left, right));
    return left;
  }
  const zero = right === "" || right === 0 || (right instanceof YamlFloat && right.value === 0);
  return zero ? left : right;
}

type Put = (list: Value[], item: Section) => void;

function mergeLists(left: Value | undefined, right: Value, _type: FieldType, put: Put): Value {
  const list = Array.isArray(left) ? left : [];
  for (const item of Array.isArray(right) ? right : []) if (isSection(item)) put(list, item);
  return list;
}

/** Merges an element with the one that it agrees with; interfaces without a name agree by their whole selector. */
function mergeElement(list: Value[], item: Section, type: FieldType, key: string, rules: ConfigRules): void {
  const by = key === "interface" && !item.get(key) ? "deviceSelector" : key;
  const wanted = item.get(by);
  const existing = list
    .filter(isSection)
    .find((candidate) => wanted !== undefined && sameValue(candidate.get(by), wanted));
  const struct = elementStruct(type);
  if (existing === undefined || struct === undefined) list.push(cloneValue(item));
  else mergeSections(existing, item, struct, rules);
}

function replaceElement(list: Value[], item: Section, key: string): void {
  const index = list.findIndex((candidate) => isSection(candidate) && sameValue(candidate.get(key), item.get(key)));
  if (index < 0) list.push(cloneValue(item));
  else list[index] = cloneValue(item);
}

function elementStruct(type: FieldType): Struct | undefined {
  if (type.kind === "list") return elementStruct(type.of);
  if (type.kind === "pointer") return elementStruct(type.to);
  return type.kind === "struct" ? structOf(type.name) : undefined;
}

/** How Go calls the type of a free-form value. */
function goType(value: Value): string {
  if (Array.isArray(value)) return "[]interface {}";
  if (isSection(value)) return "map[string]interface {}";
  if (value instanceof YamlFloat) return "float64";
  if (value instanceof YamlPlain) return "time.Time";
  if (typeof value === "number") return "int";
  if (typeof value === "bigint") return "uint64";
  return typeof value === "boolean" ? "bool" : "string";
}

/** Runs a step and puts its place before the message of an error. */
function within(place: string, step: () => void): void {
  try {
    step();
  } catch (error) {
    if (!(error instanceof TalosError)) throw error;
    throw new TalosError(error.code, `${place}: ${error.message}`, { hint: error.hint });
  }
}
