// SPDX-License-Identifier: Apache-2.0
import { isTree, type Tree } from "../machine/world.ts";

/** Lists whose items are told apart by keys, in the built-in kinds; every other list is replaced as a whole. */
const listKeys: Readonly<Record<string, readonly string[]>> = {
  addresses: ["type"],
  conditions: ["type"],
  containers: ["name"],
  env: ["name"],
  ephemeralContainers: ["name"],
  hostAliases: ["ip"],
  imagePullSecrets: ["name"],
  initContainers: ["name"],
  ownerReferences: ["uid"],
  secrets: ["name"],
  topologySpreadConstraints: ["topologyKey", "whenUnsatisfiable"],
  volumeDevices: ["devicePath"],
  volumeMounts: ["mountPath"],
  volumes: ["name"],
  webhooks: ["name"],
};

/** Maps that are taken as a whole. */
const atomic = new Set(["selector", "nodeSelector"]);

/** The fields that tell the items of this list apart; undefined for a list that is one value. */
export function keysOf(field: string, items: readonly unknown[]): readonly string[] | undefined {
  if (!items.every(isTree)) return undefined;
  if (field !== "ports") return listKeys[field];
  return [items.some((item) => item.containerPort !== undefined) ? "containerPort" : "port", "protocol"];
}

/** `{"name":"web"}`: an item's keys, as managed fields write them. */
export function itemKey(item: Tree, keys: readonly string[]): string {
  const fields = keys.map((key) => [key, item[key] ?? (key === "protocol" ? "TCP" : null)] as const);
  return JSON.stringify(Object.fromEntries(fields));
}

const separator = "\u0000";

/**
 * Every single value in an object by its path, in the notation of managed fields: `f:spec`, `f:replicas`.
 * An item of a keyed list also has a path of its own, ending in a dot.
 */
export function leavesOf(object: unknown, path: readonly string[] = [], field = ""): Map<string, unknown> {
  const leaves = new Map<string, unknown>();
  const add = (more: ReadonlyMap<string, unknown>): void => {
    for (const [key, value] of more) leaves.set(key, value);
  };
  if (isTree(object) && !atomic.has(field) && Object.keys(object).length > 0) {
    for (const [key, value] of Object.entries(object)) add(leavesOf(value, [...path, `f:${key}`], key));
    return leaves;
  }
  const keys = Array.isArray(object) && object.length > 0 ? keysOf(field, object) : undefined;
  if (keys === undefined) return leaves.set(path.join(separator), object);
  for (const item of object as readonly Tree[]) {
    const inside = [...path, `k:${itemKey(item, keys)}`];
    leaves.set([...inside, "."].join(separator), true);
    add(leavesOf(item, inside));
  }
  return leaves;
}

/** The paths as the nested object that `managedFields` holds. */
export function fieldsOf(paths: Iterable<string>): Tree {
  const root: Record<string, unknown> = {};
  for (const path of paths) {
    let place = root;
    for (const part of path.split(separator)) {
      place[part] ??= {};
      place = place[part] as Record<string, unknown>;
    }
  }
  return root;
}

export function pathsOf(fields: unknown, path: readonly string[] = []): string[] {
  const entries = Object.entries(isTree(fields) ? fields : {});
  if (entries.length === 0) return path.length === 0 ? [] : [path.join(separator)];
  return entries.flatMap(([part, below]) => pathsOf(below, [...path, part]));
}

/** The object without what is at these paths; maps that become empty go too. */
export function withoutPaths(object: Tree, paths: readonly string[]): Tree {
  return paths.reduce<Tree>((tree, path) => (drop(tree, path.split(separator), "") ?? {}) as Tree, object);
}

function drop(value: unknown, [part = "", ...rest]: readonly string[], field: string): unknown {
  if (part.startsWith("f:")) {
    const key = part.slice(2);
    if (!isTree(value) || value[key] === undefined) return value;
    const { [key]: held, ...others } = value;
    const left = rest.length === 0 ? undefined : drop(held, rest, key);
    if (left !== undefined) return { ...value, [key]: left };
    return Object.keys(others).length === 0 ? undefined : others;
  }
  if (!Array.isArray(value)) return value;
  const keys = keysOf(field, value) ?? [];
  const items = (value as readonly Tree[]).flatMap((item) => {
    if (itemKey(item, keys) !== part.slice(2)) return [item];
    return rest[0] === "." ? [] : [drop(item, rest, "") ?? {}];
  });
  return items.length === 0 ? undefined : items;
}
