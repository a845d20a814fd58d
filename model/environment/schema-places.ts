// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { anyKind, type Kind, kindNames, kinds, sections } from "../schema/index.ts";
import type { Path } from "./yaml-source.ts";

/** A mapping of the schema and where it stands, such as `infrastructure.network` or `workers[]`. */
interface Place {
  readonly path: string;
  readonly schema: unknown;
}

/** Without what says that it may be left out, and what it is then. */
export function unwrapped(schema: unknown): unknown {
  const isOptional =
    schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  return isOptional ? unwrapped(schema.unwrap()) : schema;
}

const partsOf = ({ infrastructure, controlPlane, workers }: (typeof kinds)[Kind] | typeof anyKind) => ({
  infrastructure,
  controlPlane,
  workers,
});

/** The kinds whose environments have the key at the path's end just there. */
export function kindsWith(path: Path): readonly Kind[] {
  const [section, ...inner] = path.slice(0, -1);
  return kindNames.filter((kind) => {
    const schema = (partsOf(kinds[kind]) as Readonly<Record<string, unknown>>)[String(section)];
    return keysAt(schema, inner).includes(String(path.at(-1)));
  });
}

/** Where an environment of this kind has the key: of all places those nearest to the root. */
export function placesOf(key: string, kind: Kind | undefined): readonly string[] {
  const index = indexes.get(kind) ?? placesByKey(kind);
  indexes.set(kind, index);
  return index.get(key) ?? [];
}

/** A file may have thousands of unknown keys, and the schema stays the same. */
const indexes = new Map<Kind | undefined, ReadonlyMap<string, readonly string[]>>();

function placesByKey(kind: Kind | undefined): ReadonlyMap<string, readonly string[]> {
  const index = new Map<string, readonly string[]>();
  const parts = partsOf(kind === undefined ? anyKind : kinds[kind]);
  let level: readonly Place[] = Object.entries({ ...parts, ...sections }).map(([path, schema]) => ({ path, schema }));
  while (level.length > 0) {
    const mappings = level.flatMap(mappingsAt);
    const here = new Map<string, string[]>();
    for (const { path, shape } of mappings)
      for (const key of Object.keys(shape)) if (!index.has(key)) here.set(key, [...(here.get(key) ?? []), path]);
    for (const [key, paths] of here) index.set(key, [...new Set(paths)]);
    level = mappings.flatMap(({ path, shape }) =>
      Object.entries(shape).map(([name, schema]) => ({ path: `${path}.${name}`, schema })),
    );
  }
  return index;
}

/** The mapping that stands at a place, or those of its list, its names or its variants. */
function mappingsAt({ path, schema }: Place): readonly { readonly path: string; readonly shape: z.ZodRawShape }[] {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodObject) return [{ path, shape: inner.shape }];
  if (inner instanceof z.ZodArray) return mappingsAt({ path: `${path}[]`, schema: inner.element });
  if (inner instanceof z.ZodRecord) return mappingsAt({ path: `${path}.<name>`, schema: inner.valueType });
  if (inner instanceof z.ZodUnion) return inner.options.flatMap((option) => mappingsAt({ path, schema: option }));
  return [];
}

/** The schema at a place inside of another; undefined when that cannot be told, as in one of several variants. */
export function schemaAt(schema: unknown, [step, ...rest]: Path): unknown {
  const inner = unwrapped(schema);
  if (step === undefined) return inner;
  if (inner instanceof z.ZodArray) return schemaAt(inner.element, rest);
  if (inner instanceof z.ZodRecord) return schemaAt(inner.valueType, rest);
  return inner instanceof z.ZodObject ? schemaAt(inner.shape[String(step)], rest) : undefined;
}

/** The keys that a schema has at a place inside of it; empty when that cannot be told. */
export function keysAt(schema: unknown, path: Path): readonly string[] {
  const found = schemaAt(schema, path);
  return found instanceof z.ZodObject ? Object.keys(found.shape) : [];
}

/** What has to be written for a mapping: its required keys, `{ address: …, role: … }`. Undefined for anything else. */
export function requiredOf(schema: unknown): string | undefined {
  if (schema instanceof z.ZodRecord) return `{ <name>: ${requiredOf(schema.valueType) ?? "…"} }`;
  if (!(schema instanceof z.ZodObject)) return undefined;
  const required = Object.entries(schema.shape).filter(([, field]) => unwrapped(field) === field);
  if (required.length === 0) return undefined;
  return `{ ${required.map(([key, field]) => `${key}: ${requiredOf(field) ?? "…"}`).join(", ")} }`;
}
