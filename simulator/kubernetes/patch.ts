// SPDX-License-Identifier: Apache-2.0
import { isTree, type Tree, tree, valueAt } from "../machine/world.ts";
import { itemKey, keysOf } from "./managed-fields.ts";
import { ApiError } from "./status.ts";

/** Applies a patch of any of the kinds that clients send. */
export function applyPatch(target: Tree, contentType: string, patch: unknown): Tree {
  if (contentType.startsWith("application/json-patch+json")) {
    if (!Array.isArray(patch)) throw new ApiError("BadRequest", "the patch is not a list of operations");
    return (patch as readonly unknown[]).reduce<Tree>(
      (tree, operation) => jsonPatch(tree, operation as Operation),
      target,
    );
  }
  if (!isTree(patch)) throw new ApiError("BadRequest", "the patch is not an object");
  return mergeTrees(target, patch, !contentType.startsWith("application/merge-patch+json"));
}

/** Strategic merges have directives of their own, which say what a plain merge can't. */
function mergeTrees(target: Tree, patch: Tree, strategic: boolean): Tree {
  if (strategic && patch.$patch === "replace") return withoutDirectives(patch);
  const result: Record<string, unknown> = { ...target };
  const retained = strategic ? patch.$retainKeys : undefined;
  if (Array.isArray(retained)) for (const key of Object.keys(result)) if (!retained.includes(key)) delete result[key];
  for (const [key, value] of Object.entries(patch)) {
    if (strategic && key.startsWith("$")) {
      const [directive, field = ""] = key.split("/", 2);
      if (directive === "$deleteFromPrimitiveList" && Array.isArray(value) && Array.isArray(result[field]))
        result[field] = result[field].filter((item: unknown) => !value.includes(item));
    } else if (value === null) delete result[key];
    else if (isTree(value)) result[key] = mergeTrees(isTree(result[key]) ? result[key] : {}, value, strategic);
    else
      result[key] =
        strategic && Array.isArray(value)
          ? mergeLists(key, result[key], value, patch[`$setElementOrder/${key}`])
          : value;
  }
  return result;
}

function withoutDirectives(tree: Tree): Tree {
  return Object.fromEntries(Object.entries(tree).filter(([key]) => !key.startsWith("$")));
}

function mergeLists(field: string, target: unknown, patch: readonly unknown[], order: unknown): readonly unknown[] {
  const known: readonly unknown[] = Array.isArray(target) ? target : [];
  if (field === "finalizers") return [...new Set([...known, ...patch])];
  const keys = field === "taints" ? ["key"] : keysOf(field, [...known, ...patch]);
  if (keys === undefined) return patch;
  const items = (patch as readonly Tree[]).filter((item) => item.$patch !== "replace");
  const merged = items.length < patch.length ? [] : [...(known as readonly Tree[])];
  for (const item of items) {
    const index = merged.findIndex((held) => itemKey(held, keys) === itemKey(item, keys));
    if (item.$patch === "delete") {
      if (index !== -1) merged.splice(index, 1);
    } else if (index === -1) merged.push(item);
    else merged[index] = mergeTrees(merged[index] ?? {}, item, true);
  }
  if (!Array.isArray(order)) return merged;
  const places = (order as readonly Tree[]).map((item) => itemKey(item, keys));
  const place = (item: Tree): number => {
    const found = places.indexOf(itemKey(item, keys));
    return found === -1 ? places.length : found;
  };
  return merged.sort((a, b) => place(a) - place(b));
}

/** The server does not say which operation it could not make. */
function refusedPatch(): ApiError {
  return new ApiError("Invalid", "the server rejected our request due to an error in our request", {});
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

function jsonPatch(target: Tree, { op, path, value }: Operation): Tree {
  const keys = path
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  const change = (node: unknown, [key = "", ...rest]: readonly string[]): unknown => {
    if (rest.length > 0) {
      const inner = change((node as Record<string, unknown> | undefined)?.[key], rest);
      if (Array.isArray(node)) return node.map((item, index) => (String(index) === key ? inner : (item as unknown)));
      return { ...tree(node), [key]: inner };
    }
    if (Array.isArray(node)) {
      const index = key === "-" ? node.length : Number(key);
      return op === "remove" ? node.toSpliced(index, 1) : node.toSpliced(index, op === "replace" ? 1 : 0, value);
    }
    const { [key]: old, ...others } = tree(node);
    if (op === "remove" && old === undefined) throw refusedPatch();
    return op === "remove" ? others : { ...others, [key]: value };
  };
  if (op === "test") {
    const held = valueAt(target, keys);
    if (JSON.stringify(held) === JSON.stringify(value)) return target;
    throw refusedPatch();
  }
  return change(target, keys) as Tree;
}
