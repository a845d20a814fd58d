// SPDX-License-Identifier: Apache-2.0
import type * as z from "zod";
import { nearestWord } from "../../talos/nearest-word.ts";
import { newestKubernetesOf, newestTalosOf } from "../../talos/version/index.ts";
import { dataAt } from "../../talos/yaml/index.ts";
import { type Kind, kindNames } from "../schema/index.ts";
import type { Fault } from "./fault.ts";
import type { Layers } from "./layers.ts";
import { formatFound, formatPath } from "./path.ts";
import { keysAt, kindsWith, placesOf, requiredOf, schemaAt } from "./schema-places.ts";
import type { Path } from "./yaml-source.ts";

type Issue = z.core.$ZodIssue;

const typeNouns: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a mapping",
  record: "a mapping",
};

/** Completes "expected …" where the schema has no words of its own. */
function noun(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return typeNouns[String(issue.expected)] ?? String(issue.expected);
    case "invalid_value":
      return (issue.values as unknown[]).map((value) => String(value)).join(" or ");
    case "too_small":
      return issue.origin === "array" ? `at least ${issue.minimum} in the list` : `at least ${issue.minimum}`;
    case "too_big":
      return `at most ${issue.maximum}`;
    default:
      return "another value";
  }
}

/** What a schema has against a value: where in it, and what is expected there. */
export function issuesOf(
  schema: z.ZodType,
  value: unknown,
): readonly { readonly path: Path; readonly expected: string }[] {
  const { error } = schema.safeParse(value, { error: noun });
  return (error?.issues ?? []).map((issue) => ({
    path: issue.path.map((step) => (typeof step === "number" ? step : String(step))),
    expected: issue.message,
  }));
}

export interface CheckContext {
  /** Of the environment, for where a key that is not known here belongs; undefined when it is unknown. */
  readonly kind: Kind | undefined;
  readonly layers: Layers;
  readonly faults: Fault[];
}

/**
 * Checks `value`, which stands at `path`, and adds a fault for everything wrong with it. Where nothing is wrong but
 * keys that nobody knows, the rest is given back, so that it can be held against the rules as well.
 */
export function check<T extends z.ZodType>(
  schema: T,
  value: unknown,
  path: Path,
  { kind, layers, faults }: CheckContext,
): z.output<T> | undefined {
  const result = schema.safeParse(value, { error: noun, reportInput: true });
  if (result.success) return result.data;
  for (const issue of result.error.issues) faults.push(...fromIssue(issue, schema, path, { kind, layers }));
  return schema.safeParse(withoutUnknown(value, result.error.issues)).data;
}

function withoutUnknown(value: unknown, issues: readonly Issue[]): unknown {
  const copy = structuredClone(value);
  for (const issue of issues) {
    if (issue.code !== "unrecognized_keys") continue;
    const owner = dataAt(copy, issue.path);
    if (typeof owner === "object" && owner !== null)
      for (const key of issue.keys) delete (owner as { [key: string]: unknown })[key];
  }
  return copy;
}

function fromIssue(
  issue: Issue,
  schema: z.ZodType,
  base: Path,
  { kind, layers }: Pick<CheckContext, "kind" | "layers">,
): Fault[] {
  const inner = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
  const path = [...base, ...inner];
  if (issue.code === "unrecognized_keys") {
    const known = keysAt(schema, inner);
    return issue.keys.map((key) => unknownKey({ kind, layers }, [...path, key], known));
  }
  if (issue.code === "invalid_key") {
    const expected = issue.issues[0]?.message ?? issue.message;
    const words = { found: `the key ${path.at(-1)}`, expected, hint: "Change the key." };
    return [layers.fault(path, words, { part: "key" })];
  }
  const node = layers.findNode(path)?.node;
  // A number as it is written: 1.10 means more than the 1.1 that it is read as.
  const written = node?.kind === "scalar" ? node.text : undefined;
  const found = (typeof issue.input === "number" ? written : undefined) ?? formatFound(issue.input);
  const key = String(path.at(-1));
  const missing = issue.input === undefined ? requiredOf(schemaAt(schema, inner)) : undefined;
  const keys = issue.code === "invalid_type" && issue.expected === "object" ? keysAt(schema, inner) : [];
  const hint =
    missing !== undefined
      ? `Add ${key}: ${missing}.`
      : (versionHint(key, written) ?? mappingHint(path, keys, issue.input) ?? hintFor(issue, found));
  const expected = keys.length > 0 ? `a mapping of ${[...keys].sort().join(", ")}` : issue.message;
  return [layers.fault(path, { found, expected, hint })];
}

/** For a list or a word where keys are needed. */
function mappingHint(path: Path, keys: readonly string[], input: unknown): string | undefined {
  const key = String(path.at(-1));
  const [first] = keys;
  if (first === undefined || input === undefined) return undefined;
  if (formatPath(path) === patchesPlace) return patchHint;
  return `Write ${key}: { ${first}: … }.`;
}

const patchesPlace = "cluster.patches";
const patchHint =
  "Write which machines each patch is for: patches: { all: [ … ] }, or controlPlane, worker, machines: { <name>: [ … ] }.";

/** A key that the schema does not have there. */
export function unknownKey(
  { kind, layers }: Pick<CheckContext, "kind" | "layers">,
  path: Path,
  known: readonly string[],
): Fault {
  const key = String(path.at(-1));
  const expected = known.length === 0 ? "no such key" : `one of ${[...known].sort().join(", ")}`;
  return layers.fault(path, { found: `the key ${key}`, expected, hint: keyHint(path, known, kind) }, { part: "key" });
}

/** A key that another kind has here, or this kind elsewhere, is no misspelling of one that is known here. */
function keyHint(path: Path, known: readonly string[], kind: Kind | undefined): string {
  const key = String(path.at(-1));
  // A Talos config begins with these.
  const isPatch = formatPath(path.slice(0, -1)) === patchesPlace && ["machine", "cluster", "apiVersion"].includes(key);
  if (isPatch) return patchHint;
  const plural = known.find((other) => other === `${key}s` || `${other}s` === key);
  if (plural !== undefined) return `Did you mean ${plural}?`;
  const others = kindsWith(path);
  if (others.length > 0) return `${key} is for infrastructure of kind ${either(others)}. Remove it.`;
  const places = placesOf(key, kind);
  if (places.length > 0) return `${key} goes under ${either(places)}.`;
  const elsewhere = kindNames.filter((other) => placesOf(key, other).length > 0);
  if (elsewhere.length > 0) {
    const there = [...new Set(elsewhere.flatMap((other) => placesOf(key, other)))];
    return `${key} goes under ${either(there)}, and is for infrastructure of kind ${either(elsewhere)}. Remove it.`;
  }
  const near = nearestWord(key, known);
  return near === undefined ? "Remove it, or move it to where it belongs." : `Did you mean ${near}?`;
}

const either = (words: readonly string[]) => words.join(", ").replace(/, ([^,]*)$/, " or $1");

const changeIt = "Change the value to what is expected.";

function hintFor(issue: Issue, found: string): string {
  const { input } = issue;
  if (input === undefined) return "Add it.";
  const unit = unitHint(issue.message, input);
  if (unit !== undefined) return unit;
  if (typeof input === "number" && /such as|text/.test(issue.message))
    return `Write it in quotes: "${found}" is read as a number.`;
  if (issue.code === "invalid_type" && issue.expected === "array" && typeof input === "string")
    return `Make it a list: [${found}].`;
  if (issue.code === "invalid_type" && issue.expected === "array" && input instanceof Object)
    return "Make it a list: write - before its first key, and indent the others below that key.";
  const near = typeof input === "string" ? nearestWord(input, issue.message.split(/ or |, /)) : undefined;
  return near === undefined ? changeIt : `Did you mean ${near}?`;
}

/** The line to write in place of a version that names only a minor release. */
function versionHint(key: string, written = ""): string | undefined {
  const exact =
    key === "talosVersion"
      ? newestTalosOf(written)
      : key === "kubernetesVersion"
        ? newestKubernetesOf(written)
        : undefined;
  return exact && `Write ${key}: ${exact}.`;
}

/** For an amount without a unit, or with one that is spelled in another way. */
function unitHint(expected: string, input: unknown): string | undefined {
  if (!/^a (size|duration)/.test(expected) || (typeof input !== "number" && typeof input !== "string"))
    return undefined;
  if (input === 0) return changeIt;
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(String(input)) ?? [];
  if (amount === undefined) return undefined;
  if (expected.startsWith("a size")) {
    const letter = /^[kmgt]/i.exec(unit)?.[0].toUpperCase() ?? (Number(amount) < 256 ? "G" : "M");
    const why = unit === "" ? "Add the unit" : "The units are KiB, MiB, GiB and TiB";
    return `${why}: ${amount}${letter}iB.`;
  }
  return unit === "" ? `Add the unit: ${amount}m, for minutes.` : undefined;
}
