// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../errors.ts";
import { compactLayout, compareKeys, parseYaml, scalarValue, stringifyYaml, type YamlValue } from "../../yaml/index.ts";
import { freeForm } from "../document/decode.ts";
import { cloneValue, isSection, type Section, sameValue, type Value } from "../document/value.ts";

/** One operation of RFC 6902. */
export interface JsonOperation {
  readonly op: string;
  readonly path: string;
  readonly from?: string | undefined;
  readonly value?: Value | undefined;
}

/** Reads the operations of a list; undefined when it is not a list of operations. */
export function readOperations(list: Value): readonly JsonOperation[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const operations: JsonOperation[] = [];
  for (const item of list) {
    if (!isSection(item)) return undefined;
    const [op, path, from] = [item.get("op"), item.get("path"), item.get("from")];
    operations.push({
      op: typeof op === "string" ? op : "",
      path: typeof path === "string" ? path : "",
      from: typeof from === "string" ? from : undefined,
      value: item.get("value"),
    });
  }
  return operations;
}

/**
 * Applies operations to a config of exactly one document. Like Talos, the result is re-written without regard to the
 * schema: keys sorted, indented by two.
 */
export function applyJsonPatch(text: string, operations: readonly JsonOperation[], fileName: string): string {
  const nodes = parseYaml(text, fileName);
  const [node] = nodes;
  if (node === undefined || nodes.length !== 1) {
    const message = "JSON6902 patches are not supported for multi-document machine configuration";
    throw new TalosError("invalid-input", message, { hint: "Write the patch as a piece of the config instead." });
  }
  if (node.kind === "scalar" && scalarValue(node) !== null) {
    throw new TalosError("invalid-input", "talos machine config is not a yaml document");
  }
  const root = { value: freeForm(node), copied: 0 };
  for (const operation of operations) applyOperation(root, operation);
  return stringifyYaml(sorted(root.value), compactLayout);
}

interface Root {
  value: Value;
  /** How many values the operations have copied: thirty copies of the whole would be a billion times as much. */
  copied: number;
}

const mostCopied = 100_000;
/** What reading YAML allows, too: a config that nobody can read back helps nobody. */
const deepest = 100;

function applyOperation(root: Root, operation: JsonOperation): void {
  const { op, path, from = "" } = operation;
  for (const place of [from, path]) {
    // No steps, so it would be taken for the whole config.
    if (place !== "" && !place.includes("/"))
      throw failed(`${op} operation does not apply: doc is missing path: ${JSON.stringify(place)}: missing value`);
  }
  switch (op) {
    case "add":
      add(root, path, op, required(operation));
      return;
    case "remove":
      remove(root, path, op);
      return;
    case "replace":
      replace(root, path, required(operation));
      return;
    case "move":
      add(root, path, op, remove(root, source(operation), op));
      return;
    case "copy":
      add(root, path, op, copyOf(root, find(root, source(operation), op)));
      return;
    case "test":
      if (!sameValue(find(root, path, op), required(operation)))
        throw failed(`testing value ${path} failed: test failed`);
      return;
    default:
      throw failed(`Unexpected kind: ${op}`);
  }
}

/** A copy, for the same patch is applied to many configs, and later operations may change what this one put there. */
function required({ value, op, path }: JsonOperation): Value {
  if (value === undefined) throw failed(`${op} operation for ${path} has no value`);
  return cloneValue(value);
}

function copyOf(root: Root, value: Value): Value {
  root.copied += countValues(value);
  if (root.copied > mostCopied) throw failed(`copy operations make more than ${mostCopied} values`);
  return cloneValue(value);
}

function countValues(value: Value): number {
  const inner = Array.isArray(value) ? value : isSection(value) ? [...value.values()] : [];
  return inner.reduce<number>((sum, each) => sum + countValues(each), 1);
}

function source({ from, op }: JsonOperation): string {
  if (from === undefined) {
    throw failed(`${op} operation failed to decode from: operation, missing from field: missing value`);
  }
  return from;
}

function find(root: Root, path: string, op: string): Value {
  let current: Value | undefined = root.value;
  for (const step of pointerSteps(path)) current = childOf(current, step);
  if (current === undefined)
    throw failed(`${op} operation does not apply: doc is missing path: ${path}: missing value`);
  return current;
}

function add(root: Root, path: string, op: string, value: Value): void {
  const way = pointerSteps(path);
  const last = way.pop();
  if (last === undefined) {
    root.value = value;
    return;
  }
  const parent = parentAt(root, way, op, JSON.stringify(path));
  if (isSection(parent)) {
    parent.set(last, value);
    return;
  }
  const index = last === "-" ? parent.length : indexIn(parent.length + 1, last);
  if (index === undefined) throw noPlace(op, path, last);
  parent.splice(index, 0, value);
}

/** Like Talos, and unlike the RFC, it also sets a key that is not there yet. */
function replace(root: Root, path: string, value: Value): void {
  const way = pointerSteps(path);
  const last = way.pop();
  if (last === undefined) {
    root.value = value;
    return;
  }
  const parent = parentAt(root, way, "replace", path);
  if (isSection(parent)) {
    parent.set(last, value);
    return;
  }
  const index = indexIn(parent.length, last);
  if (index === undefined) {
    throw failed(`replace operation does not apply: doc is missing key: ${path}: missing value`);
  }
  parent[index] = value;
}

function remove(root: Root, path: string, op: string): Value {
  const way = pointerSteps(path);
  const last = way.pop() ?? "";
  const parent = parentAt(root, way, op, JSON.stringify(path));
  const place = op === "move" ? last : path;
  if (Array.isArray(parent)) {
    const index = indexIn(parent.length, last);
    if (index === undefined) throw noPlace(op, place, last);
    return parent.splice(index, 1)[0] ?? null;
  }
  const removed = parent.get(last);
  if (removed === undefined) {
    throw failed(`error in ${op} for path: '${place}': Unable to remove nonexistent key: ${last}: missing value`);
  }
  parent.delete(last);
  return removed;
}

function parentAt(root: Root, way: readonly string[], op: string, shown: string): Section | Value[] {
  let current: Value | undefined = root.value;
  for (const step of way) current = childOf(current, step);
  if (isSection(current) || Array.isArray(current)) return current;
  throw failed(`${op} operation does not apply: doc is missing path: ${shown}: missing value`);
}

function childOf(value: Value | undefined, step: string): Value | undefined {
  if (isSection(value)) return value.get(step);
  if (!Array.isArray(value)) return undefined;
  const index = indexIn(value.length, step);
  return index === undefined ? undefined : value[index];
}

/** Where a step leads to in a list of so many places, counted from its end where negative. */
function indexIn(length: number, step: string): number | undefined {
  if (!/^-?\d+$/.test(step)) return undefined;
  const index = Number(step) < 0 ? length + Number(step) : Number(step);
  return index >= 0 && index < length ? index : undefined;
}

function noPlace(op: string, path: string, step: string): TalosError {
  return failed(
    `error in ${op} for path: '${path}': Unable to access invalid index: ${step}: invalid index referenced`,
  );
}

/** The parts of a JSON pointer (RFC 6901). Like Talos, it ignores what stands before the first slash. */
export function pointerSteps(path: string): string[] {
  return path
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function failed(reason: string): TalosError {
  return new TalosError("invalid-input", `failure applying rfc6902 patches to talos machine config: ${reason}`);
}

function sorted(value: Value, depth = 0): YamlValue {
  if (depth > deepest) throw failed(`the result has more than ${deepest} levels of nesting`);
  if (Array.isArray(value)) return value.map((item) => sorted(item, depth + 1));
  if (!isSection(value)) return value;
  if (value.has("__proto__")) throw failed('the result has a key "__proto__", which is not allowed');
  const keys = [...value.keys()].sort(compareKeys);
  return new Map(keys.map((key) => [key, sorted(value.get(key) ?? null, depth + 1)]));
}
