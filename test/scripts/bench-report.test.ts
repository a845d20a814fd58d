// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { type CpuProfile, moduleName, partOfNode, summarize } from "../../scripts/bench/profile.ts";
import { curveTable, lineOf, markdownOf, profileTable, resultOf } from "../../scripts/bench/report.ts";

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

/** A profile of two samples each of the functions, a millisecond for each sample. */
const sampled = (...frames: readonly (readonly [name: string, url: string])[]): CpuProfile => ({
  nodes: frames.map(([functionName, url], id) => ({
    id,
    callFrame: { functionName, url, lineNumber: 0, columnNumber: 0 },
  })),
  samples: frames.flatMap((_, id) => [id, id]),
  timeDeltas: frames.flatMap(() => [1000, 1000]),
});

test("a profile tells the shares of the modules over all processes, the dearest first", () => {
  const profiles = [sampled(["a", "talos/x.ts"], ["(idle)", ""]), sampled(["b", "talos/y.ts"], ["c", "yaml"])];
  const moduleOf = ({ functionName, url }: { functionName: string; url: string }) =>
    functionName === "(idle)" ? undefined : url.split("/")[0];
  const profile = summarize("plan", profiles, moduleOf);
  expect(profile.milliseconds).toBe(6);
  expect(profileTable([profile])).toBe(
    "| work | busy | self time by module |\n|---|---|---|\n| plan | 6 ms | talos 67 %, yaml 33 % |",
  );
});

test.each([
  ["../../../engine/kubernetes/api.ts", "engine/kubernetes"],
  ["provider/session.ts", "provider"],
  ["../node_modules/@grpc/grpc-js/build/src/call.js", "@grpc/grpc-js"],
  ["/x/node_modules/a/node_modules/yaml/dist/index.js", "yaml"],
  ["chunk-1.mjs", "other"],
])("what is in %s counts for %s", (path, module) => {
  expect(moduleName(path)).toBe(module);
});

test.each([
  ["node:internal/modules/cjs/loader", "Node.js loading code"],
  ["node:_tls_wrap", "Node.js TLS"],
  ["node:internal/http2/core", "Node.js network"],
  ["node:events", "Node.js otherwise"],
])("what is in %s counts for %s", (url, part) => {
  expect(partOfNode(url)).toBe(part);
});

test("the page has date, machine and all tables", () => {
  const results = [resultOf(row, { ours: 40, anchor: 100, unit: "ms" })];
  const profiles = [{ name: "plan", milliseconds: 6, parts: [{ module: "talos/config", share: 0.5 }] }];
  const page = markdownOf({ date: "2026-11-16", machine: "2 × CPU, Node v20", results, curves, profiles });
  for (const part of ["2026-11-16", "2 × CPU", "| synth | 40 ms |", "| synth | 12 ms |", "talos/config 50 %"])
    expect(page).toContain(part);
});
