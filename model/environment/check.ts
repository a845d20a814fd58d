// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { nearestWord } from "../../talos/nearest-word.ts";
import { newestKubernetesOf, newestTalosOf } from "../../talos/version/index.ts";
import { dataAt } from "../../talos/yaml/index.ts";
import type { Fault } from "./fault.ts";
import type { Layers } from "./layers.ts";
import { formatFound } from "./path.ts";
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

/**
 * Checks `value`, which stands at `path`, and adds a fault for everything wrong with it. Where nothing is wrong but
 * keys that nobody knows, the rest is given back, so that it can be held against the rules as well.
 */
export function check<T extends z.ZodType>(
  schema: T,
  value: unknown,
  path: Path,
  layers: Layers,
  faults: Fault[],
): z.output<T> | undefined {
  const result = schema.safeParse(value, { error: noun, reportInput: true });
  if (result.success) return result.data;
  for (const issue of result.error.issues) faults.push(...fromIssue(issue, schema, path, layers));
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

function fromIssue(issue: Issue, schema: z.ZodType, base: Path, layers: Layers): Fault[] {
  const inner = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
  const path = [...base, ...inner];
  if (issue.code === "unrecognized_keys") {
    const known = knownKeys(schema, inner);
    return issue.keys.map((key) => unknownKey(layers, [...path, key], known));
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
  const hint = versionHint(String(path.at(-1)), written) ?? hintFor(issue, found);
  return [layers.fault(path, { found, expected: issue.message, hint })];
}

/** A key that the schema does not have. */
export function unknownKey(layers: Layers, path: Path, known: readonly string[]): Fault {
  const key = String(path.at(-1));
  const near = nearestWord(key, known);
  return layers.fault(
    path,
    {
      found: `the key ${key}`,
      expected: known.length === 0 ? "no such key" : `one of ${[...known].sort().join(", ")}`,
      hint: near === undefined ? "Remove it, or move it to where it belongs." : `Did you mean ${near}?`,
    },
    { part: "key" },
  );
}

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

/** Without what says that it may be left out, and what it is then. */
export function unwrapped(schema: unknown): unknown {
  const isOptional =
    schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  return isOptional ? unwrapped(schema.unwrap()) : schema;
}

/** The keys that the schema has at a place inside of it; empty when that cannot be told. */
function knownKeys(schema: z.ZodType, path: Path): readonly string[] {
  let current = unwrapped(schema);
  for (const step of path) {
    if (current instanceof z.ZodArray && typeof step === "number") current = unwrapped(current.element);
    else if (current instanceof z.ZodObject) current = unwrapped(current.shape[String(step)]);
  }
  return current instanceof z.ZodObject ? Object.keys(current.shape) : [];
}
