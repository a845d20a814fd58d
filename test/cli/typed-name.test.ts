// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { registerPlan } from "../../cli/commands/lifecycle.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { asTyped, typedName } from "../../cli/typed-name.ts";
import { testContext } from "../support/command-context.ts";
import { runCommand } from "../support/run-command.ts";

test.each([
  ["npx", { npm_command: "exec" }, "/project/node_modules/.bin/talosmith", "npx talosmith"],
  ["a script of package.json", { npm_command: "run-script" }, "/project/bin/talosmith.js", "npx talosmith"],
  ["a name on the PATH", {}, "/usr/local/bin/talosmith", "talosmith"],
  ["a file of this folder", {}, "/project/bin/talosmith.js", "node bin/talosmith.js"],
  ["a file of another folder", {}, "/else/bin/talosmith.js", "node /else/bin/talosmith.js"],
])("started by %s, it is typed so again", (_, env, script, expected) => {
  expect(typedName({ env, cwd: "/project", script })).toBe(expected);
});

test.each([
  ["Deploy it: talosmith deploy lab", "Deploy it: npx talosmith deploy lab"],
  ["talosmith upgrade-k8s lab && talosmith plan lab", "npx talosmith upgrade-k8s lab && npx talosmith plan lab"],
  ["Next: npx talosmith plan lab", "Next: npx talosmith plan lab"],
  ["This is a fault of talosmith. Please report it", "This is a fault of talosmith. Please report it"],
  [
    "the talosmith provider, talosmith does and bin/talosmith plan",
    "the talosmith provider, talosmith does and bin/talosmith plan",
  ],
])("%j becomes %j", (text, expected) => {
  expect(asTyped(text, "npx talosmith")).toBe(expected);
  expect(asTyped(text, "talosmith")).toBe(text);
});

test("an environment that is not there is answered with those that are, and a command that works here", async () => {
  const env = { PATH: process.env.PATH, npm_command: "exec" };
  const { code, stderr } = await runCommand(process.execPath, ["bin/talosmith.js", "plan", "nope"], { cwd: ".", env });
  expect(code).toBe(1);
  expect(stderr).toContain("There are: lab, local, production, sandbox, staging.");
  expect(stderr).toContain("A new one is written by: npx talosmith init nope");
  // A file that is not there has no line to point at.
  expect(stderr).toContain("environments/nope.yaml\n  found no such file");
  expect(stderr).not.toContain("^");
});

test.each(["environments/local.yaml", "local.yaml", "./environments/local.yml"])(
  "%s, as a shell completes it, is answered with the name",
  async (typed) => {
    const context = testContext({ cwd: process.cwd(), env: {} });
    await runProgram(createProgram(context, [registerPlan]), ["plan", typed], context);
    expect(context.written.stderr).toMatch(
      /^ {2}expected the name of an environment, not its file\n {2}→ Did you mean local\? There are: lab, local/m,
    );
  },
);
