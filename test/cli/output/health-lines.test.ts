// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { healthLines, healthVerdict } from "../../../cli/actions/health.ts";

test("a long wait says again and again what it waits for, and its failure is not said twice", () => {
  const lines: string[] = [];
  const tell = healthLines((line) => lines.push(line));
  const name = "no diagnostics";
  tell({ name: "apid to be ready", state: "ok" });
  tell({ name, state: "waiting" });
  for (let beat = 0; beat < 2; beat++) tell({ name, state: "waiting", reason: "w-1: not signed" });
  tell({ name, state: "failed", reason: "w-1: not signed" });
  expect(lines).toEqual([
    "waiting for apid to be ready: OK",
    "waiting for no diagnostics: ...",
    "waiting for no diagnostics: w-1: not signed",
    "waiting for no diagnostics: w-1: not signed",
  ]);
});

test.each([
  [
    "all are met",
    [
      { name: "a", state: "ok" },
      { name: "b", state: "skipped" },
    ],
    "lab is healthy.",
  ],
  [
    "one is not",
    [
      { name: "a", state: "ok" },
      { name: "apid to be ready", state: "failed", reason: "w-1 (10.0.0.5): refused" },
    ],
    "lab is not healthy, waiting for apid to be ready: w-1 (10.0.0.5): refused",
  ],
  [
    "several are not",
    [
      { name: "a to be", state: "failed", reason: "x" },
      { name: "b to be", state: "failed" },
    ],
    "lab is not healthy, waiting for a to be: x (and 1 more)",
  ],
] as const)("the last line says in one what the checks mean when %s", (_, conditions, expected) => {
  expect(healthVerdict("lab", conditions)).toBe(expected);
});
