// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { curveTable, lineOf, markdownOf, resultOf } from "../../scripts/bench/report.ts";

const row = { name: "synth", anchor: "the stock command", budget: 0.5, measure: () => Promise.reject(new Error()) };
const curves = [
  {
    name: "synth",
    points: [
      { machines: 10, milliseconds: 12.4 },
      { machines: 100, milliseconds: 99.6 },
    ],
  },
];

describe("a row of the bench", () => {
  test.each([
    [
      "within its budget",
      { ours: 40, anchor: 100, unit: "ms" },
      "| 40 ms | 100 ms (the stock command) | 0.400 | ≤ 0.5 | kept |",
    ],
    [
      "over its budget",
      { ours: 6, anchor: 8, unit: "ms" },
      "| 6.00 ms | 8.00 ms (the stock command) | 0.750 | ≤ 0.5 | OVER |",
    ],
    [
      "without its anchor",
      { ours: 40, anchor: undefined, unit: "ms", note: "a | b" },
      "| 40 ms | – (the stock command) | – | ≤ 0.5 | SKIPPED: anchor not installed; a \\| b |",
    ],
    ["that failed", new Error("no\nstack"), "| – | – (the stock command) | – | ≤ 0.5 | FAILED; no |"],
  ])("%s tells so", (_, measured, line) => {
    expect(lineOf(resultOf(row, measured))).toBe(`| synth ${line}`);
  });
});

test("the growth is a line for each kind of work and a column for each size", () => {
  expect(curveTable(curves)).toBe(
    "| time for | 10 machines | 100 machines |\n|---|---|---|\n| synth | 12 ms | 100 ms |",
  );
});

test("the page has date, machine and both tables", () => {
  const results = [resultOf(row, { ours: 40, anchor: 100, unit: "ms" })];
  const page = markdownOf({ date: "2026-11-16", machine: "2 × CPU, Node v20", results, curves });
  for (const part of ["2026-11-16", "2 × CPU", "| synth | 40 ms |", "| synth | 12 ms |"]) expect(page).toContain(part);
});
