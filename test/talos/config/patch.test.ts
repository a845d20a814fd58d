// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { applyPatches, parsePatch } from "../../../talos/config/index.ts";

interface Case {
  readonly id: string;
  readonly input: string;
  readonly patches: readonly string[];
  readonly note: string;
  readonly ok: boolean;
  readonly expected?: string;
  readonly error?: string;
  readonly quirk?: string;
}

const golden = new URL("../../golden/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, golden), "utf8");
const cases: readonly Case[] = JSON.parse(read("patch/index.json"));

function patched(row: Case): string {
  const patches = row.patches.map((path) => parsePatch(read(path), path));
  return applyPatches(read(row.input), patches, row.input);
}

const usual = cases.filter((row) => row.quirk === undefined);

describe("a patched config is byte-equal to talosctl's", () => {
  const rows = usual.filter((row) => row.ok);
  test.each(rows.map((row) => [`${row.id}: ${row.note}`, row] as const))("%s", (_, row) => {
    expect(patched(row)).toBe(read(row.expected ?? ""));
  });
});

describe("a patch that cannot be applied is refused in talosctl's words", () => {
  const rows = usual.filter((row) => !row.ok && row.id !== "invalid-yaml");
  test.each(rows.map((row) => [`${row.id}: ${row.note}`, row] as const))("%s", (_, row) => {
    expect(() => patched(row)).toThrow(expect.objectContaining({ message: row.error, code: "invalid-input" }));
  });
});
