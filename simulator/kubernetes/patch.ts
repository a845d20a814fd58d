// SPDX-License-Identifier: Apache-2.0
import { ApiError } from "./status.ts";

type Tree = Readonly<Record<string, unknown>>;

/** Lists that strategic merge joins by a key, as far as the simulated kinds have them. */
const mergeKeys: Readonly<Record<string, string>> = {
  conditions: "type",
  taints: "key",
  containers: "name",
  env: "name",
  volumes: "name",
  addresses: "type",
  ownerReferences: "uid",
};

/** Applies a patch of any of the kinds that clients send. */
export function applyPatch(target: Tree, contentType: string, patch: unknown): Tree {
  if (contentType.startsWith("application/json-patch+json")) {
    return (Array.isArray(patch) ? patch : []).reduce<Tree>(
      (tree, operation) => jsonPatch(tree, operation as Operation),
      target,
    );
  }
  if (!isTree(patch)) throw new ApiError(400, "BadRequest", "the patch is not an object");
  return mergeTrees(target, patch, !contentType.startsWith("application/merge-patch+json"));
}

function mergeTrees(target: Tree, patch: Tree, strategic: boolean): Tree {
  const result: Record<string, unknown> = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    if (strategic && key.startsWith("$")) continue;
    if (value === null) delete result[key];
    else if (isTree(value)) result[key] = mergeTrees(isTree(result[key]) ? result[key] : {}, value, strategic);
    else result[key] = strategic && Array.isArray(value) ? mergeLists(key, result[key], value) : value;
  }
  return result;
}

function mergeLists(field: string, target: unknown, patch: readonly unknown[]): readonly unknown[] {
  const key = mergeKeys[field];
  if (key === undefined || !Array.isArray(target) || !patch.every(isTree)) return patch;
  const merged: Tree[] = target.filter(isTree);
  for (const item of patch) {
    const index = merged.findIndex((known) => known[key] === item[key]);
    if (item.$patch === "delete") {
      if (index !== -1) merged.splice(index, 1);
    } else if (index === -1) merged.push(item);
    else merged[index] = mergeTrees(merged[index] ?? {}, item, true);
  }
  return merged;
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

function jsonPatch(tree: Tree, { op, path, value }: Operation): Tree {
  const keys = path
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  const change = (node: unknown, [key = "", ...rest]: readonly string[]): unknown => {
    if (rest.length > 0) {
      const inner = change((node as Record<string, unknown> | undefined)?.[key], rest);
      if (Array.isArray(node)) return node.map((item, index) => (String(index) === key ? inner : (item as unknown)));
      return { ...(isTree(node) ? node : {}), [key]: inner };
    }
    if (Array.isArray(node)) {
      const index = key === "-" ? node.length : Number(key);
      return op === "remove" ? node.toSpliced(index, 1) : node.toSpliced(index, op === "replace" ? 1 : 0, value);
    }
    const { [key]: old, ...others } = isTree(node) ? node : {};
    if (op === "remove" && old === undefined) throw new ApiError(422, "Invalid", `the path "${path}" does not exist`);
    return op === "remove" ? others : { ...others, [key]: value };
  };
  if (op === "test") return tree;
  return change(tree, keys) as Tree;
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
