// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { applyReportLine } from "../../../workspace/terraform/terraform-output.ts";

const hook = (action: string, elapsed_seconds = 0) => ({
  hook: { resource: { addr: "talosmith_cluster.cluster" }, action, elapsed_seconds },
});

const cases: readonly [string, unknown, string | undefined][] = [
  ["the start of a change", { type: "apply_start", ...hook("create") }, undefined],
  [
    "a change that takes time",
    { type: "apply_progress", ...hook("create", 10) },
    "  … creating talosmith_cluster.cluster (10 s)",
  ],
  ["a quick change", { type: "apply_complete", ...hook("create") }, "  ✓ talosmith_cluster.cluster created"],
  [
    "a slow change",
    { type: "apply_complete", ...hook("delete", 3) },
    "  ✓ talosmith_cluster.cluster destroyed after 3 s",
  ],
  ["a failure", { type: "apply_errored", ...hook("update") }, "  ✗ talosmith_cluster.cluster failed"],
  [
    "an error with details",
    { type: "diagnostic", diagnostic: { severity: "error", summary: "No disk", detail: "a\nb", address: "x.y" } },
    "Error: No disk (x.y)\n  a\n  b",
  ],
  ["a warning", { type: "diagnostic", diagnostic: { severity: "warning", summary: "Even" } }, "Warning: Even"],
  ["what we do not know", { type: "outputs", outputs: {} }, undefined],
];

test.each(cases)("%s is told in one line or not at all", (_, message, expected) => {
  expect(applyReportLine(JSON.stringify(message))).toBe(expected);
});

test.each([
  ["the provider's word for it", { severity: "error", summary: "Stopped", address: "talosmith_cluster.cluster" }],
  ["terraform's", { severity: "error", summary: "execution halted" }],
])("of a run that was stopped, %s is not told", (_, diagnostic) => {
  const line = JSON.stringify({ type: "diagnostic", diagnostic });
  expect(applyReportLine(line, undefined, true)).toBeUndefined();
  expect(applyReportLine(line, undefined, false)).toContain(diagnostic.summary);
  const other = JSON.stringify({ type: "diagnostic", diagnostic: { ...diagnostic, summary: "No disk" } });
  expect(applyReportLine(other, undefined, true)).toContain("No disk");
});

test("of what is told by its own steps, it is not told that it takes time", () => {
  const line = JSON.stringify({ type: "apply_progress", ...hook("update", 10) });
  expect(applyReportLine(line, (address) => address === "talosmith_cluster.cluster")).toBeUndefined();
  expect(applyReportLine(line, () => false)).toContain("(10 s)");
});

test("a line that is not JSON is kept, so that a crash is seen", () => {
  expect(applyReportLine("panic: oh no")).toBe("panic: oh no");
});
