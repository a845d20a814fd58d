// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { registerMachine } from "../../cli/commands/machine.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { testContext } from "../support/command-context.ts";

// A machine takes a call for nobody as one for itself: `reset -n "$NODE"` must not wipe the endpoint where NODE is unset,
// and no partition means all of them.
test.each([
  ["reset", "-n", "", "--yes"],
  ["reboot", "--nodes="],
  ["reboot", "-n", "10.0.0.70,"],
  ["bootstrap", "-n", " "],
  ["reboot", "-n", "10.0.0.70", "-e", ""],
  ["reset", "-n", "10.0.0.70", "--system-labels-to-wipe", "", "--yes"],
  ["apply", "-f", "machine.yaml", "-n", "10.0.0.70", "--insecure", "--cert-fingerprint", ""],
])("%j is refused: a list with nothing in it is most likely a variable that is not set", async (...line) => {
  const context = testContext({ env: { TALOSCONFIG: "/nowhere/talosconfig" } });
  await runProgram(createProgram(context, [registerMachine]), line, context);
  const { stderr, exitCode } = context.written;
  expect([stderr, exitCode]).toEqual([expect.stringContaining("is invalid. expected names with commas between"), 64]);
});

test("without a talosconfig, those that deploys have left in this project are named", async () => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-targets-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of ["environments", "generated/lab"]) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, "cdktf.json"), "{}");
  for (const name of ["lab", "rack"]) writeFileSync(join(root, `environments/${name}.yaml`), "");
  writeFileSync(join(root, "generated/lab/talosconfig"), "");
  const context = testContext({ cwd: root, env: { HOME: root } });
  await runProgram(createProgram(context, [registerMachine]), ["get", "members"], context);
  expect(context.written.stderr).toContain("no environment is named; deployed here: -e lab\n");
  expect(context.written.stderr).not.toContain("rack");
});
