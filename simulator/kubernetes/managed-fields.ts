// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import { isTree, type KubernetesObject, type Tree, tree } from "../machine/world.ts";
import { ApiError } from "./status.ts";

/** Who writes, and when. */
export interface Writer {
  readonly manager: string;
  readonly time: string;
}

interface Entry {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly time: string;
  readonly fieldsType: "FieldsV1";
  readonly fieldsV1: Tree;
}

function entriesOf(object: { readonly metadata: Tree } | undefined): readonly Entry[] {
  return (object?.metadata.managedFields as readonly Entry[] | undefined) ?? [];
}

/** What a writer can own: not the identity of the object, nor what the server and its controllers write. */
function ownable({ apiVersion: _a, kind: _k, status: _s, metadata, ...rest }: Tree): Map<string, unknown> {
  const { labels, annotations, finalizers, ownerReferences } = (metadata ?? {}) as Tree;
  const kept = given({ labels, annotations, finalizers, ownerReferences });
  return leavesOf(Object.keys(kept).length > 0 ? { ...rest, metadata: kept } : rest);
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The object with its owners noted after a create, a replace or a patch. */
export function noteUpdate(
  before: KubernetesObject | undefined,
  after: KubernetesObject,
  writer: Writer,
): KubernetesObject {
  const old = before === undefined ? new Map<string, unknown>() : ownable(before);
  const now = ownable(after);
  const changed = new Set(
    [...now].filter(([path, value]) => !old.has(path) || !same(old.get(path), value)).map(([path]) => path),
  );
  const entries = entriesOf(before);
  const mine = entries.find((entry) => entry.operation === "Update" && entry.manager === writer.manager);
  const others = entries.filter((entry) => entry !== mine);
  const kept = others.flatMap((entry) => narrowed(entry, (path) => now.has(path) && !changed.has(path)));
  const held = [...new Set([...pathsOf(mine?.fieldsV1).filter((path) => now.has(path)), ...changed])];
  const own =
    held.length === 0 || same(held, [""])
      ? []
      : [entry(after, writer, "Update", held, changed.size === 0 ? mine : undefined)];
  return withEntries(after, [...kept, ...own]);
}

/**
 * Server-side apply: takes over what the configuration says, drops what this manager said before and no longer says,
 * and leaves the rest. What others own and want otherwise is a conflict, unless forced.
 */
export function applyConfiguration(
  live: KubernetesObject,
  configuration: Tree,
  writer: Writer,
  force: boolean,
): KubernetesObject {
  const wanted = ownable(configuration);
  const current = ownable(live);
  const entries = entriesOf(live);
  const mine = entries.find((entry) => entry.operation === "Apply" && entry.manager === writer.manager);
  const others = entries.filter((entry) => entry !== mine);
  const contested = (path: string): boolean =>
    wanted.has(path) && current.has(path) && !path.endsWith(".") && !same(wanted.get(path), current.get(path));
  const conflicts = others.flatMap((entry) =>
    pathsOf(entry.fieldsV1)
      .filter(contested)
      .map((path) => ({ manager: entry.manager, path })),
  );
  if (conflicts.length > 0 && !force) throw conflictError(conflicts);
  const theirs = new Set(others.flatMap((entry) => pathsOf(entry.fieldsV1)));
  const given = pathsOf(mine?.fieldsV1).filter((path) => !wanted.has(path) && !theirs.has(path));
  const { status: _status, ...stated } = configuration;
  const held = [...wanted.keys(), ...theirs];
  const merged = mergeConfiguration(withoutPaths(live, given.map(wholly(held))), stated) as KubernetesObject;
  const kept = others.flatMap((entry) => narrowed(entry, (path) => !contested(path)));
  const paths = [...wanted.keys()];
  const unchanged = mine !== undefined && same(fieldsOf(paths), mine.fieldsV1) && same(ownable(merged), current);
  return withEntries(merged, [...kept, entry(merged, writer, "Apply", paths, unchanged ? mine : undefined)]);
}

/** A map without any owned field is removed, with the defaults that the server has set in it. */
function wholly(held: readonly string[]): (path: string) => string {
  return (path) => {
    const parts = path.split(separator);
    // The spec itself stays.
    for (let length = 2; length < parts.length; length++) {
      const outer = parts.slice(0, length);
      const beginning = `${outer.join(separator)}${separator}`;
      if (outer.every((part) => part.startsWith("f:")) && !held.some((other) => other.startsWith(beginning)))
        return outer.join(separator);
    }
    return path;
  };
}

function entry(
  object: Tree,
  writer: Writer,
  operation: Entry["operation"],
  paths: readonly string[],
  kept?: Entry,
): Entry {
  if (kept !== undefined) return kept;
  const { manager, time } = writer;
  return {
    manager,
    operation,
    apiVersion: String(object.apiVersion),
    time,
    fieldsType: "FieldsV1",
    fieldsV1: fieldsOf(paths),
  };
}

function narrowed(entry: Entry, keep: (path: string) => boolean): readonly Entry[] {
  const all = pathsOf(entry.fieldsV1);
  const paths = all.filter(keep);
  if (paths.length === all.length) return [entry];
  return paths.length === 0 ? [] : [{ ...entry, fieldsV1: fieldsOf(paths) }];
}

function withEntries(object: KubernetesObject, managedFields: readonly Entry[]): KubernetesObject {
  const { managedFields: _, ...metadata } = object.metadata;
  if (managedFields.length === 0) return { ...object, metadata };
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

function mergeConfiguration(live: unknown, stated: unknown, field = ""): unknown {
  if (isTree(stated) && isTree(live) && !atomic.has(field)) {
    const result: Record<string, unknown> = { ...live };
    for (const [key, value] of Object.entries(stated)) result[key] = mergeConfiguration(live[key], value, key);
    return result;
  }
  if (!Array.isArray(stated) || !Array.isArray(live)) return stated;
  const keys = keysOf(field, [...stated, ...live]);
  if (keys === undefined) return stated;
  const items = live as readonly Tree[];
  const known = new Map(items.map((item) => [itemKey(item, keys), item]));
  const wanted = (stated as readonly Tree[]).map((item) => [itemKey(item, keys), item] as const);
  const said = new Set(wanted.map(([key]) => key));
  const left = items.filter((item) => !said.has(itemKey(item, keys)));
  return [...wanted.map(([key, item]) => mergeConfiguration(known.get(key) ?? {}, item)), ...left];
}

function conflictError(conflicts: readonly { readonly manager: string; readonly path: string }[]): ApiError {
  const shown = conflicts.map(({ manager, path }) => ({
    manager,
    field: path
      .split(separator)
      .map((part) => (part.startsWith("f:") ? `.${part.slice(2)}` : part.startsWith("k:") ? keyed(part.slice(2)) : ""))
      .join(""),
  }));
  const [first] = shown;
  const words =
    shown.length === 1
      ? `1 conflict: conflict with "${first?.manager}": ${first?.field}`
      : `${shown.length} conflicts: ${shown.map(({ manager, field }) => `conflict with "${manager}": ${field}`).join(", ")}`;
  return new ApiError("Conflict", `Apply failed with ${words}`, {
    causes: shown.map(({ manager, field }) => ({
      reason: "FieldManagerConflict",
      message: `conflict with "${manager}"`,
      field,
    })),
  });
}

/** `[name="web"]` */
function keyed(text: string): string {
  const fields = Object.entries(JSON.parse(text) as Tree).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return `[${fields.join(",")}]`;
}

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
function leavesOf(object: unknown, path: readonly string[] = [], field = ""): Map<string, unknown> {
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
function fieldsOf(paths: Iterable<string>): Tree {
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

function pathsOf(fields: unknown, path: readonly string[] = []): string[] {
  const entries = Object.entries(tree(fields));
  if (entries.length === 0) return path.length === 0 ? [] : [path.join(separator)];
  return entries.flatMap(([part, below]) => pathsOf(below, [...path, part]));
}

/** The object without what is at these paths; maps that become empty go too. */
function withoutPaths(object: Tree, paths: readonly string[]): Tree {
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
