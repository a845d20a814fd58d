// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { chosenOperations, operations } from "../../scripts/real/operations.ts";
import { type Cell, pageWith, record, tableOf, withResults } from "../../scripts/real/record.ts";

const rows = record.parse(JSON.parse(readFileSync("docs/tried.json", "utf8")));
const seen: Cell = { date: "2026-11-18", result: "seen", text: "3 nodes | ready\nall of them", seconds: 94.4 };
const failed: Cell = { date: "2026-11-18", result: "failed", text: "exit code 1" };

describe("docs/tried.md", () => {
  test("has the tables of docs/tried.json", () => {
    const page = readFileSync("docs/tried.md", "utf8");
    expect(pageWith(page, rows)).toBe(page);
  });

  test("has a row for each operation of the suite, in its order", () => {
    expect(rows.map(({ operation }) => operation)).toEqual(operations.map(({ name }) => name));
  });

  test("is refused without the marks of its tables", () => {
    expect(() => pageWith("# Tried\n", rows)).toThrow("expected the lines");
  });
});

describe("results", () => {
  test("only what was run and succeeded counts as seen", () => {
    const table = tableOf([{ operation: "deploy", simulator: failed, real: seen }]);
    expect(table).toContain("| deploy | failed (2026-11-18) | 2026-11-18, 94 s | not seen | not seen |");
    expect(table).toContain("| deploy | real Talos and Kubernetes | seen: 3 nodes \\| ready all of them |");
  });

  test("a run changes its own column and leaves what it did not run", () => {
    const old = [{ operation: "deploy", simulator: seen }, { operation: "gone" }, { operation: "plan", real: seen }];
    const results = new Map([["deploy", failed]]);
    expect(withResults(old, ["deploy", "plan", "health"], "real", results)).toEqual([
      { operation: "deploy", simulator: seen, real: failed },
      { operation: "plan", real: seen },
      { operation: "health" },
    ]);
  });
});

describe("operations", () => {
  test("each has its own name and needs one before it", () => {
    const names = operations.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const [index, { needs }] of operations.entries())
      if (needs !== undefined) expect(names.slice(0, index)).toContain(needs);
  });

  test("a word takes those with it in their names, and all that they need", () => {
    const [deploy, broken, back] = [
      "deploy without Terraform",
      "a component of the new version never becomes ready",
      "go back to the patch version before",
    ];
    expect(chosenOperations("real", ["go back"]).map(({ name }) => name)).toEqual([deploy, broken, back]);
    expect(chosenOperations("simulator").every(({ labs }) => labs?.includes("simulator") ?? true)).toBe(true);
    expect(() => chosenOperations("real", ["nonsense"])).toThrow("--only: found nonsense");
  });
});
