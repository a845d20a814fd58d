// SPDX-License-Identifier: Apache-2.0
import { posix } from "node:path";
import { type ConfigRules, machineRules, newestRules } from "../../talos/config/patch/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { TalosVersion } from "../../talos/version/index.ts";
import { type Data, isData } from "../../talos/yaml/index.ts";
import type { Fault } from "./fault.ts";
import type { Layers } from "./layers.ts";
import { faultsOfPatch, faultsOfPatchFile, secretsOfPatch, secretsOfPatchFile } from "./patch-faults.ts";
import { patchText } from "./patch-text.ts";
import { type Path, YamlSource } from "./yaml-source.ts";

/** The text of a file of the project, by its path from the root; undefined when there is none. */
export interface ReadFile {
  (file: string): string | undefined;
  /** Which environments there are, for a person who has named none of them. */
  readonly environments?: () => readonly string[];
  /** Of the process, where it decides which state is read. @default empty */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** The same files, but for those that have another text here. */
export function withTexts(read: ReadFile, texts: ReadonlyMap<string, string>): ReadFile {
  return Object.assign((file: string) => texts.get(file) ?? read(file), read);
}

export interface ReferenceContext {
  readonly read: ReadFile;
  readonly layers: Layers;
  readonly faults: Fault[];
  /** Gets what breaks a rule: the faults, or the warnings where the cluster exists already. */
  readonly broken: Fault[];
}

/**
 * Replaces `controlPlaneRef: ./file.yaml` by the control plane and `{ workerRef: ./file.yaml }` by the pool that the
 * file holds, and `{ configRef: ./file.yaml }` by the patch's text. Paths count from the file that names them.
 */
export function resolveReferences(data: Data, given: ReferenceContext): Data {
  const context = { ...given, rules: patchRules(data) };
  const resolved: { [key: string]: unknown } = { ...data };
  if (typeof data.controlPlaneRef === "string") {
    delete resolved.controlPlaneRef;
    const path = ["controlPlane"];
    if (data.controlPlane === undefined) {
      const source = open(data.controlPlaneRef, ["controlPlaneRef"], context);
      if (source !== undefined) resolved.controlPlane = mountPool(source, path, context);
    } else context.faults.push(both("controlPlane", "controlPlaneRef", [], context.layers));
  }
  if (Array.isArray(data.workers))
    resolved.workers = data.workers.map((pool, index) => resolvePool(pool, ["workers", index], context));
  if (isData(resolved.controlPlane))
    resolved.controlPlane = resolvePatches(resolved.controlPlane, ["controlPlane"], context);
  if (isData(data.cluster) && isData(data.cluster.patches))
    resolved.cluster = { ...data.cluster, patches: resolveClusterPatches(data.cluster.patches, context) };
  if (isData(data.infrastructure)) resolved.infrastructure = resolveInfrastructure(data.infrastructure, context);
  return resolved;
}

interface PatchContext extends ReferenceContext {
  /** By which patches are read. */
  readonly rules: ConfigRules;
}

/** Those of the environment's Talos, which may be newer than all that is known. A version that is none is told elsewhere. */
function patchRules({ cluster }: Data): ConfigRules {
  const version = isData(cluster) ? cluster.talosVersion : undefined;
  if (typeof version !== "string") return newestRules;
  try {
    return machineRules(TalosVersion.parse(version));
  } catch (error) {
    if (!(error instanceof TalosError)) throw error;
    return newestRules;
  }
}

function resolveInfrastructure(infrastructure: Data, context: PatchContext): Data {
  const path = ["infrastructure"];
  return mapped(withMeta(infrastructure, path, context), {
    // Template files by their names become their texts.
    cloudInit: (templates) =>
      each(templates, (file, key) =>
        typeof file === "string" ? (readReferenced(file, [...path, "cloudInit", key], context)?.text ?? file) : file,
      ),
    // Patches and META templates of single machines.
    machines: (machines) =>
      each(machines, (machine, name) => {
        const place = [...path, "machines", name];
        return isData(machine) ? withMeta(resolvePatches(machine, place, context), place, context) : machine;
      }),
  });
}

/** `{ templateRef: ./file.hbs }` becomes the file's text. */
function withMeta(owner: Data, path: Path, context: PatchContext): Data {
  const textOf = (value: unknown, key: string) => {
    if (!isData(value) || typeof value.templateRef !== "string" || Object.keys(value).length > 1) return value;
    return readReferenced(value.templateRef, [...path, "meta", key, "templateRef"], context)?.text ?? "";
  };
  return mapped(owner, { meta: (meta) => each(meta, textOf) });
}

/** The same with other values of some keys, as far as these are mappings. */
function mapped(data: Data, changes: Readonly<Record<string, (value: Data) => Data>>): Data {
  return each(data, (value, key) => (isData(value) && Object.hasOwn(changes, key) && changes[key]?.(value)) || value);
}

function each(data: Data, change: (value: unknown, key: string) => unknown): Data {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, change(value, key)]));
}

function resolvePool(pool: unknown, path: Path, context: PatchContext): unknown {
  if (!isData(pool)) return pool;
  if (pool.workerRef === undefined) return resolvePatches(pool, path, context);
  const file = onlyReference(pool, "workerRef", path, context);
  const source = file === undefined ? undefined : open(file, [...path, "workerRef"], context);
  return source === undefined ? {} : mountPool(source, path, context);
}

/** The path that stands in a reference alone; anything else is a fault. */
function onlyReference(data: Data, key: string, path: Path, { layers, faults }: ReferenceContext): string | undefined {
  const { [key]: value, ...rest } = data;
  const [other] = Object.keys(rest);
  if (other === undefined && typeof value === "string") return value;
  faults.push(
    other === undefined
      ? layers.fault([...path, key], { value, expected: "the path of a file", hint: "Write ./file.yaml." })
      : both(other, key, path, layers),
  );
  return undefined;
}

function mountPool(source: YamlSource, path: Path, context: PatchContext): unknown {
  context.layers.mount(source, path);
  return isData(source.value) ? resolvePatches(source.value, path, context) : source.value;
}

function resolvePatches(pool: Data, path: Path, context: PatchContext): Data {
  return Array.isArray(pool.patches)
    ? { ...pool, patches: resolveList(pool.patches, [...path, "patches"], context) }
    : pool;
}

function resolveClusterPatches(patches: Data, context: PatchContext): Data {
  return each(patches, (value, key) => {
    const path = ["cluster", "patches", key];
    if (!isData(value)) return resolveList(value, path, context);
    return each(value, (list, name) => resolveList(list, [...path, name], context));
  });
}

function resolveList(list: unknown, path: Path, context: PatchContext): unknown {
  return Array.isArray(list) ? list.map((patch, index) => resolvePatch(patch, [...path, index], context)) : list;
}

function resolvePatch(patch: unknown, path: Path, context: PatchContext): unknown {
  if (!isData(patch) || patch.configRef === undefined) {
    context.faults.push(...faultsOfPatch(path, context.layers, context.rules));
    context.broken.push(...secretsOfPatch(path, patchText(patch), context.layers));
    return patch;
  }
  const file = onlyReference(patch, "configRef", path, context);
  const found = file === undefined ? undefined : readReferenced(file, [...path, "configRef"], context);
  if (found === undefined) return "---";
  context.faults.push(...faultsOfPatchFile(found.file, found.text, path, context.rules));
  context.broken.push(...secretsOfPatchFile(found.file, found.text, path));
  return found.text;
}

function open(reference: string, path: Path, context: PatchContext): YamlSource | undefined {
  const found = readReferenced(reference, path, context);
  if (found === undefined) return undefined;
  const source = YamlSource.parse(found.file, found.text);
  context.faults.push(...source.faults);
  return source.isReadable ? source : undefined;
}

function readReferenced(reference: string, path: Path, context: PatchContext) {
  const position = context.layers.locate(path);
  const file = posix.normalize(posix.join(posix.dirname(position.file), reference));
  const outside = posix.isAbsolute(reference) || file.startsWith("..");
  const text = outside ? undefined : context.read(file);
  if (text !== undefined) return { file, text };
  const expected = outside ? "a file inside the project" : "a file that is there";
  const hint = outside
    ? "Copy the file into the project."
    : `Create ${file}, or correct the path: it counts from ${posix.dirname(position.file)}/.`;
  context.faults.push(context.layers.fault(path, { found: reference, expected, hint }));
  return undefined;
}

function both(one: string, other: string, parent: Path, layers: Layers): Fault {
  return layers.fault(
    [...parent, other],
    { found: `both ${one} and ${other}`, expected: "one of the two", hint: "Remove one of them." },
    { part: "key", also: layers.find([...parent, one], "key") },
  );
}
