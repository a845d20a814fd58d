// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventsTo } from "../../../engine/index.ts";
import { eventsBeside } from "../../../workspace/terraform/plan-file.ts";
import { OtherRuns, withFollowedEvents } from "../../../workspace/terraform/run-events.ts";

const folder = mkdtempSync(join(tmpdir(), "talosmith-elsewhere-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const running = new AbortController().signal;

const nobody = () => {};

test("a run of Terraform is seen from its beginning to its end, and one that was killed is not", async () => {
  const runs = new OtherRuns();
  expect(runs.look(join(folder, "no stack"))).toBeUndefined();
  const dead = spawnSync(process.execPath, ["-e", ""]).pid;
  writeFileSync(join(folder, eventsBeside(`talosmith.${dead}.aaaa.tfplan`, "deploy")), "");
  expect(runs.look(folder)).toBeUndefined();

  const plan = `talosmith.${process.ppid}.0a1b.tfplan`;
  writeFileSync(join(folder, plan), "a plan that waits for its approval");
  expect(runs.look(folder)).toBeUndefined();
  const path = join(folder, eventsBeside(plan, "deploy"));
  await withFollowedEvents(path, running, nobody, async () => {
    expect(runs.look(folder)).toMatchObject({ id: "terraform-0a1b", action: "deploy", events: [], end: null });
    eventsTo(path)({ type: "waiting", at: new Date(0), message: "for cp-1", machine: "cp-1" });
    expect(runs.look(folder)?.events).toMatchObject([{ message: "for cp-1", machine: "cp-1" }]);
  });
  expect(new OtherRuns().look(folder)).toBeUndefined();
});

test.each([
  ["done", running, undefined],
  ["failed", running, new Error("apply failed")],
  ["stopped", AbortSignal.abort(), new Error("apply failed")],
])("the last words of a run and that it is %s are read after its folder is gone", async (outcome, signal, fault) => {
  const runs = new OtherRuns();
  const stack = mkdtempSync(join(folder, "stack-"));
  const path = join(stack, eventsBeside(`talosmith.${process.ppid}.0a1b.tfplan`, "destroy"));
  const working = withFollowedEvents(path, signal, nobody, async () => {
    expect(runs.look(stack)).toMatchObject({ action: "destroy", events: [], end: null });
    eventsTo(path)({ type: "healthy", at: new Date(0), message: "all is well" });
    if (fault !== undefined) throw fault;
  });
  await working.catch(nobody);
  rmSync(stack, { recursive: true });
  const ended = { events: [{ message: "all is well" }], end: { outcome, at: expect.any(Date) } };
  expect(runs.look(stack)).toMatchObject(ended);
  expect(runs.look(stack)).toMatchObject(ended);

  mkdirSync(stack);
  await withFollowedEvents(path.replace("0a1b", "0a1c"), running, nobody, async () =>
    expect(runs.look(stack)).toMatchObject({ id: "terraform-0a1c", events: [], end: null }),
  );
});

test("of a run that was killed while it was watched nobody knows what came of it", () => {
  const runs = new OtherRuns();
  const stack = mkdtempSync(join(folder, "stack-"));
  const path = join(stack, eventsBeside(`talosmith.${process.ppid}.0a1b.tfplan`, "deploy"));
  writeFileSync(path, "");
  expect(runs.look(stack)).toMatchObject({ end: null });
  rmSync(path);
  expect(runs.look(stack)).toMatchObject({ end: { outcome: "unknown" } });
});
