// SPDX-License-Identifier: Apache-2.0
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { jsonFile } from "./files.ts";
import type { Patched, Talosctl } from "./talosctl.ts";

interface PatchCase {
  readonly id: string;
  readonly input: string;
  readonly patches: readonly string[];
  readonly expected?: string;
  readonly error?: string;
}

interface MoreCases {
  readonly inputs: Readonly<Record<string, string>>;
  readonly cases: readonly { readonly input: string; readonly patch: string; readonly expected?: string }[];
}

/**
 * What a later release makes of the patch cases, which were first made with 1.13.9, in a file of its own. A result that
 * is the same as there is written as `"same"`.
 */
export function makePatches(talosctl: Talosctl, golden: string): number {
  const read = (path: string): string => readFileSync(join(golden, path), "utf8");
  const rows: readonly PatchCase[] = JSON.parse(read("patch/index.json"));
  const more: MoreCases = JSON.parse(read("patch/more.json"));
  const cases = rows.map(({ id, input, patches, expected, error }) => {
    const before = expected === undefined ? { error: error ?? "" } : { expected: read(expected) };
    return [id, briefly(talosctl.patch(read(input), patches.map(read)), before)] as const;
  });
  const small = more.cases.map(({ input, patch, ...before }) =>
    briefly(talosctl.patch(more.inputs[input] ?? "", [patch]), before),
  );
  const result = { release: talosctl.version, cases: Object.fromEntries(cases), more: small };
  writeFileSync(join(golden, `patch/talos-${talosctl.minor}.json`), jsonFile(result));
  return cases.length + small.length;
}

function briefly(now: Patched, before: { readonly expected?: string; readonly error?: string }): Patched | "same" {
  const same = "error" in now ? now.error === before.error : now.expected === before.expected;
  return same ? "same" : now;
}
