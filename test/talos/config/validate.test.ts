// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Mode, validateConfig } from "../../../talos/config/index.ts";
import { TalosError } from "../../../talos/errors.ts";

interface Result {
  readonly ok: boolean;
  readonly warnings: readonly string[];
  readonly error: string | null;
}

interface Case {
  readonly id: string;
  readonly config: string;
  readonly strict: boolean;
  readonly results: Readonly<Record<Mode, Result>>;
}

const golden = new URL("../../golden/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, golden), "utf8");
const cases: readonly Case[] = JSON.parse(read("validate/index.json"));
const rows = cases.flatMap((row) =>
  Object.entries(row.results).map(
    ([mode, result]) => [`${row.id} in ${mode} mode`, row, mode as Mode, result] as const,
  ),
);

function validate(row: Case, mode: Mode): Result {
  try {
    const { warnings, error } = validateConfig(read(row.config), row.config, { mode, strict: row.strict });
    return { ok: error === undefined, warnings, error: error ?? null };
  } catch (error) {
    return { ok: false, warnings: [], error: TalosError.from(error).message };
  }
}

describe("validation says what talosctl says", () => {
  test.each(rows)("%s", (_, row, mode, result) => {
    expect(validate(row, mode)).toEqual(result);
  });
});
