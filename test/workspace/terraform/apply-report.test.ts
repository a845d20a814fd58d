// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { applyReport } from "../../../workspace/terraform/terraform-output.ts";

const at = new Date(0);
const options = {
  subjectOf: (address: string) => ({ name: address }),
  isReported: () => false,
  isShown: (warning: string) => warning === "Odd\n\nas planned",
  isStopped: false,
};
const address = "talosmith_cluster.cluster";
const hook = (action: string, elapsed_seconds = 0) => ({
  hook: { resource: { addr: address }, action, elapsed_seconds },
});
const event = (type: string, message: string) => ({ event: { at, type, message, step: { id: address } } });

const cases: readonly [string, unknown, object][] = [
  ["the start of a change", { type: "apply_start", ...hook("create") }, event("step-started", `create ${address}`)],
  [
    "a change that takes time",
    { type: "apply_progress", ...hook("create", 10) },
    event("waiting", `creating ${address} (10 s)`),
  ],
  ["a quick change", { type: "apply_complete", ...hook("create") }, event("step-finished", `create ${address}`)],
  [
    "a slow change",
    { type: "apply_complete", ...hook("delete", 3) },
    event("step-finished", `destroy ${address} (3 s)`),
  ],
  ["a failure", { type: "apply_errored", ...hook("update") }, event("step-failed", `change ${address}`)],
  [
    "an error with details",
    { type: "diagnostic", diagnostic: { severity: "error", summary: "No disk", detail: "a\nb", address: "x.y" } },
    { error: { summary: "No disk", detail: "a\nb", address: "x.y" } },
  ],
  [
    "a warning",
    { type: "diagnostic", diagnostic: { severity: "warning", summary: "Even" } },
    { event: { at, type: "warning", message: "Even" } },
  ],
  [
    "a warning that the plan has shown",
    { type: "diagnostic", diagnostic: { severity: "warning", summary: "Odd", detail: "as planned\n", address: "x.y" } },
    {},
  ],
  [
    "the same with other details",
    { type: "diagnostic", diagnostic: { severity: "warning", summary: "Odd", detail: "as found", address: "x.y" } },
    { event: { at, type: "warning", message: "Odd (x.y): as found" } },
  ],
  ["what we do not know", { type: "outputs", outputs: {} }, {}],
];

test.each(cases)("%s is reported as a step, or not at all", (_, message, expected) => {
  expect(applyReport(JSON.stringify(message), at, options)).toEqual(expected);
});

test("a machine is called by its name", () => {
  const line = JSON.stringify({ type: "apply_complete", ...hook("create") });
  const subjectOf = () => ({ name: "machine w-1", machine: "w-1" });
  const { event: found } = applyReport(line, at, { ...options, subjectOf });
  expect(found).toMatchObject({ message: "create machine w-1", machine: "w-1" });
});

test.each([
  ["the provider's word for it", { severity: "error", summary: "Stopped", address }],
  ["terraform's", { severity: "error", summary: "execution halted" }],
])("of a run that was stopped, %s is not reported", (_, diagnostic) => {
  const line = JSON.stringify({ type: "diagnostic", diagnostic });
  expect(applyReport(line, at, { ...options, isStopped: true })).toEqual({});
  expect(applyReport(line, at, options).error?.summary).toBe(diagnostic.summary);
  const other = JSON.stringify({ type: "diagnostic", diagnostic: { ...diagnostic, summary: "No disk" } });
  expect(applyReport(other, at, { ...options, isStopped: true }).error?.summary).toBe("No disk");
});

test("of what reports its own steps, it is not reported that it takes time", () => {
  const line = JSON.stringify({ type: "apply_progress", ...hook("update", 10) });
  expect(applyReport(line, at, { ...options, isReported: (found) => found === address })).toEqual({});
});

test("a line that is not JSON is kept, so that a crash is seen", () => {
  expect(applyReport("panic: oh no", at, options)).toEqual({ words: "panic: oh no" });
});
