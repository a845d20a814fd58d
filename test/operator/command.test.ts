// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { registerOperate } from "../../cli/commands/operate.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { testContext } from "../support/command-context.ts";

async function operate(...flags: string[]) {
  const context = testContext({ env: { TALOSMITH_ROOT: process.cwd() } });
  await runProgram(createProgram(context, [registerOperate]), ["operate", ...flags], context);
  return context.written;
}

test.each<[string, readonly string[], string]>([
  ["names of files", ["--kubernetes", "lab"], "names of environments cannot be used with --kubernetes"],
  ["--repair", ["--kubernetes", "--repair"], "--repair cannot be used with --kubernetes"],
  ["--all-namespaces alone", ["--all-namespaces"], "--all-namespaces needs --kubernetes"],
  ["--data alone", ["--data", "/tmp/data"], "--data needs --kubernetes"],
  ["a computer that is no pod", ["--kubernetes"], "this process does not run in a Kubernetes cluster"],
])("operate --kubernetes refuses %s", async (_what, flags, message) => {
  const { stderr, exitCode } = await operate(...flags);
  expect(stderr).toContain(message);
  expect(exitCode).toBe(1);
});
