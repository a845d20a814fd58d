// SPDX-License-Identifier: Apache-2.0
import { writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { lineEdits } from "../../test/support/line-edits.ts";
import { type RandomConfig, randomConfigs } from "../../test/support/random-patches.ts";
import { type SeededCase, type SeededResult, seededBase, seededFile } from "../../test/support/seeded-patches.ts";
import { modes, type Talosctl } from "./talosctl.ts";

/** Random patches over generated configs through each talosctl; rewrites the whole file. */
export function makeSeeded(
  talosctls: readonly Talosctl[],
  options: { readonly seed: number; readonly cases: number },
): number {
  const configs = fc.sample(randomConfigs(), { seed: options.seed, numRuns: options.cases });
  const cases = configs.map((config): SeededCase => {
    const base = seededBase(config);
    const results = talosctls.map((talosctl) => [talosctl.version, resultOf(talosctl, base, config)] as const);
    return { ...config, results: Object.fromEntries(results) };
  });
  writeFileSync(seededFile, cases.map((one) => `${JSON.stringify(one)}\n`).join(""));
  return cases.length;
}

function resultOf(talosctl: Talosctl, base: string, config: RandomConfig): SeededResult {
  const patched = talosctl.patch(base, config.patches);
  if ("error" in patched) {
    if (/^panic: /m.test(patched.error)) return { quirk: "talosctl crashes" };
    return patched.error.includes("decoder.namedSelector")
      ? { quirk: "talosctl takes a directive for a document" }
      : patched;
  }
  const text = patched.expected;
  const known = knownQuirk(config, base);
  if (known !== undefined) return { quirk: known };
  const again = talosctl.patch(text, ["machine: {}"]);
  const isJson = config.patches.at(-1)?.startsWith("[");
  if ("error" in again || (!isJson && again.expected !== text))
    return { quirk: "talosctl does not read back what it writes" };
  const verdicts = modes.map((mode) => [mode, talosctl.validate(text, mode)] as const);
  // Some messages name the first of several keys, which Go visits in any order.
  for (let round = 0; round < 3; round += 1)
    if (!isDeepStrictEqual(talosctl.validate(text, "metal"), verdicts[0]?.[1]))
      return { quirk: "talosctl says something else each time" };
  if (verdicts.some(([, { error }]) => error?.startsWith("panic: "))) return { quirk: "talosctl crashes" };
  const [first] = verdicts;
  const agree = first !== undefined && verdicts.every(([, verdict]) => isDeepStrictEqual(verdict, first[1]));
  return { edits: lineEdits(base, text), verdicts: agree ? { all: first[1] } : Object.fromEntries(verdicts) };
}

/** Where talosctl loses data or shows secrets, and talosmith does not. */
function knownQuirk({ patches }: RandomConfig, base: string): string | undefined {
  const all = patches.join("\n---\n");
  if (patches.some((patch) => patch.startsWith("[")) && /: "?(?:on|yes)"?$/m.test(all))
    return "talosctl reads words as booleans in a JSON patch";
  const documents = [base, ...patches].flatMap((text) => text.split(/^---\n/m)).map(sizedDocument);
  const sized = documents.filter((id) => id !== undefined);
  if (new Set(sized).size < sized.length) return "talosctl drops sizes and selectors that a patch leaves out";
  return all.includes("clusterSecret: ") ? "talosctl repeats a secret" : undefined;
}

/** Kind and name of a document that has sizes or selectors. */
function sizedDocument(text: string): string | undefined {
  const [, kind] =
    /^kind: ((?:User|Raw|Swap|Existing)?Volume|UnattendedInstall|LVM\w+|RAIDArray)Config$/m.exec(text) ?? [];
  return kind && `${kind}/${/^name: (.*)$/m.exec(text)?.[1] ?? ""}`;
}
