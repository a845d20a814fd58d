// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import {
  applyPatches,
  configRules,
  MachineConfig,
  type Mode,
  parsePatch,
  validateConfig,
} from "../../../talos/config/index.ts";
import { TalosError } from "../../../talos/errors.ts";
import { TalosVersion } from "../../../talos/version/index.ts";
import { withLineEdits } from "../../support/line-edits.ts";
import {
  readSeeded,
  type SeededCase,
  type SeededResult,
  seededBase,
  type Verdict,
} from "../../support/seeded-patches.ts";

const cases = readSeeded();
const releases = Object.keys(cases[0]?.results ?? {}).map((version) => TalosVersion.parse(version));

const bases = new Map<string, MachineConfig>();

/** Read once for all cases that begin with it. */
function baseOf(one: SeededCase, talos: TalosVersion): MachineConfig {
  const key = [one.contract, one.type, talos].join(" ");
  const known = bases.get(key) ?? new MachineConfig(seededBase(one), "config", configRules(talos.contract));
  bases.set(key, known);
  return known;
}

/** What talosctl of a release makes of it, or the error that it ends with. */
function patched(one: SeededCase, talos: TalosVersion): MachineConfig | { readonly error: string } {
  const base = baseOf(one, talos);
  try {
    const patches = one.patches.map((patch, index) => parsePatch(patch, `patch ${index}`, base.rules));
    // After operations, `machineconfig patch` prints the text as these leave it.
    if (patches.some(({ kind }) => kind === "json"))
      return new MachineConfig(applyPatches(base.text, patches, "config", base.rules), "config", base.rules);
    return base.patched(patches);
  } catch (error) {
    return { error: TalosError.from(error).message.trimEnd() };
  }
}

function judged(config: MachineConfig, talos: TalosVersion, mode: Mode): Verdict {
  try {
    const { warnings, error } = validateConfig(config, { mode, talos, local: true });
    return { warnings, error: error ?? null };
  } catch (error) {
    return { warnings: [], error: TalosError.from(error).message };
  }
}

/** An older talosctl cannot read what came later; we can, and refuse it for machines that cannot. */
const tooNew = /not registered$|unknown keys found|does not belong to/;

function hold(one: SeededCase, talos: TalosVersion, result: SeededResult): void {
  if ("quirk" in result) return;
  const ours = patched(one, talos);
  if ("error" in result) {
    if ("error" in ours) {
      // Where talosctl up to 1.13 leaves the directive in the config, and goes on, we stop.
      const stopped = /^(patch delete: the config has no document|a patch deletes )/.test(ours.error);
      if (!stopped && !tooNew.test(result.error)) expect(ours.error).toBe(result.error);
      return;
    }
    expect(result.error).toMatch(tooNew);
    expect(judged(ours, talos, "metal").error).not.toBeNull();
    return;
  }
  const text = withLineEdits(baseOf(one, talos).text, result.edits);
  if ("error" in ours) throw new Error(`talosctl applies the patches, we do not: ${ours.error}`);
  expect(ours.text).toBe(text);
  for (const mode of ["metal", "cloud", "container"] as const)
    expect({ mode, ...judged(ours, talos, mode) }).toEqual({
      mode,
      ...(result.verdicts[mode] ?? result.verdicts.all),
    });
}

describe.each(releases.map((talos) => [talos.toString(), talos] as const))(
  "seeded patches, by talosctl %s",
  (version, talos) => {
    const rows = cases.map((one, index) => [index, one] as const);

    test.each(rows)("case %i gives the same text and the same verdicts", (_, one) => {
      const result = one.results[version];
      if (result === undefined) throw new Error(`the case has no result of ${version}`);
      hold(one, talos, result);
    });

    test("are of all sorts", () => {
      const results = cases.map((one) => one.results[version]).filter((result) => result !== undefined);
      const texts = results.filter((result) => "edits" in result);
      const isValid = ({ error }: Verdict) => error === null;
      expect(results.length).toBeGreaterThanOrEqual(200);
      expect(texts.length).toBeGreaterThan(80);
      expect(texts.filter(({ verdicts }) => Object.values(verdicts).every(isValid)).length).toBeGreaterThan(20);
      expect(
        texts.filter(({ verdicts }) => Object.values(verdicts).some((verdict) => !isValid(verdict))).length,
      ).toBeGreaterThan(20);
      expect(results.filter((result) => "quirk" in result).length).toBeLessThan(30);
    });
  },
);
