// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventsBeside, withPlanFile } from "../../../workspace/terraform/plan-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "talosmith-plan-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string) => writeFileSync(join(folder, name), "plan");

test("runs beside each other have a plan each, and none stays", async () => {
  const seen = await withPlanFile(folder, async (first) => {
    write(first);
    await withPlanFile(folder, async (second) => write(second)).then(() => undefined);
    return readdirSync(folder).map((name) => name === first);
  });
  expect(seen).toEqual([true]);
  expect(readdirSync(folder)).toEqual([]);
});

test("a failure leaves no plan", async () => {
  const failing = withPlanFile(folder, async (file) => {
    write(file);
    throw new Error("declined");
  });
  await expect(failing).rejects.toThrow("declined");
  expect(readdirSync(folder)).toEqual([]);
});

test("what a killed run has left goes, what a living one works with stays", async () => {
  const dead = spawnSync(process.execPath, ["-e", ""]).pid;
  write(`talosmith.${dead}.0a1b2c3d.tfplan`);
  write(eventsBeside(`talosmith.${dead}.0a1b2c3d.tfplan`, "deploy"));
  const living = `talosmith.${process.ppid}.0a1b2c3d.tfplan`;
  write(living);
  await withPlanFile(folder, async () => expect(readdirSync(folder)).toEqual([living]));
});
