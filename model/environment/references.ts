// SPDX-License-Identifier: Apache-2.0
import { posix } from "node:path";
import { type Data, isData } from "../../talos/yaml/index.ts";
import type { Fault } from "./fault.ts";
import type { Layers } from "./layers.ts";
import { faultsOfPatch, faultsOfPatchFile } from "./patch-faults.ts";
import { type Path, YamlSource } from "./yaml-source.ts";

/** The text of a file of the project, by its path from the root; undefined when there is none. */
export interface ReadFile {
  (file: string): string | undefined;
  /** Which environments there are, for a person who has named none of them. */
  readonly environments?: () => readonly string[];
}

export interface ReferenceContext {
  readonly read: ReadFile;
  readonly layers: Layers;
  readonly faults: Fault[];
}

/**
 * Replaces `controlPlaneRef: ./file.yaml` by the control plane and `{ workerRef: ./file.yaml }` by the pool that the
 * file holds, and `{ configRef: ./file.yaml }` by the patch's text. Paths count from the file that names them.
 */
export function resolveReferences(data: Data, context: ReferenceContext): Data {
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

function resolveInfrastructure(infrastructure: Data, context: ReferenceContext): Data {
  const { cloudInit, meta, machines } = infrastructure;
  const path = ["infrastructure"];
  return {
    ...infrastructure,
    ...(isData(cloudInit) ? { cloudInit: resolveTemplates(cloudInit, context) } : {}),
    ...(isData(meta) ? { meta: resolveMeta(meta, [...path, "meta"], context) } : {}),
    ...(isData(machines) ? { machines: resolveMachines(machines, [...path, "machines"], context) } : {}),
  };
}

/** Patches and META templates of single machines. */
function resolveMachines(machines: Data, path: Path, context: ReferenceContext): Data {
  return Object.fromEntries(
    Object.entries(machines).map(([name, machine]) => {
      if (!isData(machine)) return [name, machine];
      const { meta } = machine;
      const resolved = resolvePatches(machine, [...path, name], context);
      return [
        name,
        isData(meta) ? { ...resolved, meta: resolveMeta(meta, [...path, name, "meta"], context) } : resolved,
      ];
    }),
  );
}

/** `{ templateRef: ./file.hbs }` becomes the file's text. */
function resolveMeta(meta: Data, path: Path, context: ReferenceContext): Data {
  return Object.fromEntries(
    Object.entries(meta).map(([key, value]) => {
      if (!isData(value) || typeof value.templateRef !== "string" || Object.keys(value).length > 1) return [key, value];
      return [key, readReferenced(value.templateRef, [...path, key, "templateRef"], context)?.text ?? ""];
    }),
  );
}

/** Template files by their names become their texts. */
function resolveTemplates(templates: Data, context: ReferenceContext): Data {
  return Object.fromEntries(
    Object.entries(templates).map(([key, file]) => {
      if (typeof file !== "string") return [key, file];
      return [key, readReferenced(file, ["infrastructure", "cloudInit", key], context)?.text ?? file];
    }),
  );
}

function resolvePool(pool: unknown, path: Path, context: ReferenceContext): unknown {
  if (!isData(pool)) return pool;
  const { workerRef, ...rest } = pool;
  if (workerRef === undefined) return resolvePatches(pool, path, context);
  const [other] = Object.keys(rest);
  if (other !== undefined) {
    context.faults.push(both(other, "workerRef", path, context.layers));
    return {};
  }
  const source = typeof workerRef === "string" ? open(workerRef, [...path, "workerRef"], context) : undefined;
  if (typeof workerRef !== "string")
    context.faults.push(
      context.layers.fault([...path, "workerRef"], {
        value: workerRef,
        expected: "the path of a file",
        hint: "Write ./file.yaml.",
      }),
    );
  return source === undefined ? {} : mountPool(source, path, context);
}

function mountPool(source: YamlSource, path: Path, context: ReferenceContext): unknown {
  context.layers.mount(source, path);
  return isData(source.value) ? resolvePatches(source.value, path, context) : source.value;
}

function resolvePatches(pool: Data, path: Path, context: ReferenceContext): Data {
  return Array.isArray(pool.patches)
    ? {
        ...pool,
        patches: pool.patches.map((patch, index) => resolvePatch(patch, [...path, "patches", index], context)),
      }
    : pool;
}

function resolveClusterPatches(patches: Data, context: ReferenceContext): Data {
  const resolveList = (list: unknown, path: Path) =>
    Array.isArray(list) ? list.map((patch, index) => resolvePatch(patch, [...path, index], context)) : list;
  return Object.fromEntries(
    Object.entries(patches).map(([key, value]) => {
      const path = ["cluster", "patches", key];
      if (!isData(value)) return [key, resolveList(value, path)];
      return [
        key,
        Object.fromEntries(Object.entries(value).map(([name, list]) => [name, resolveList(list, [...path, name])])),
      ];
    }),
  );
}

function resolvePatch(patch: unknown, path: Path, context: ReferenceContext): unknown {
  if (!isData(patch) || patch.configRef === undefined) {
    context.faults.push(...faultsOfPatch(path, context.layers));
    return patch;
  }
  const [other] = Object.keys(patch).filter((key) => key !== "configRef");
  if (other !== undefined) {
    context.faults.push(both(other, "configRef", path, context.layers));
    return "---";
  }
  const reference = [...path, "configRef"];
  const found = typeof patch.configRef === "string" ? readReferenced(patch.configRef, reference, context) : undefined;
  if (found !== undefined) context.faults.push(...faultsOfPatchFile(found.file, found.text, path));
  if (typeof patch.configRef !== "string")
    context.faults.push(
      context.layers.fault(reference, {
        value: patch.configRef,
        expected: "the path of a file",
        hint: "Write ./file.yaml.",
      }),
    );
  return found?.text ?? "---";
}

function open(reference: string, path: Path, context: ReferenceContext): YamlSource | undefined {
  const found = readReferenced(reference, path, context);
  if (found === undefined) return undefined;
  const source = YamlSource.parse(found.file, found.text);
  context.faults.push(...source.faults);
  return source.faults.length === 0 ? source : undefined;
}

function readReferenced(reference: string, path: Path, context: ReferenceContext) {
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
