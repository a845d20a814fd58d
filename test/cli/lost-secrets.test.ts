// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { registerStatus } from "../../cli/commands/inspect.ts";
import { registerDestroy, registerPlan, registerUp } from "../../cli/commands/lifecycle.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { testContext } from "../support/command-context.ts";

let root: string;
const record = () => join(root, "state/lab.machines.json");
const machine = { name: "m-1", role: "controlplane", address: "127.0.0.1" };

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "talosmith-lost-"));
  for (const folder of ["environments", "state"]) mkdirSync(join(root, folder));
  writeFileSync(join(root, "cdktf.json"), "{}");
  writeFileSync(
    join(root, "environments/lab.yaml"),
    "infrastructure:\n  kind: metal\n  trustOnFirstUse: true\n  machines: { m-1: { address: 127.0.0.1, role: controlplane } }\n",
  );
});
afterEach(() => rmSync(root, { recursive: true }));

async function talosmith(...args: string[]) {
  const context = testContext({ cwd: root });
  await runProgram(createProgram(context, [registerDestroy, registerPlan, registerUp]), args, context);
  return context.written;
}

test.each(["destroy", "down"])("%s does not call machines gone that it cannot speak to", async (command) => {
  writeFileSync(record(), JSON.stringify({ v: 1, machines: [machine] }));
  const { stderr, exitCode } = await talosmith(command, "lab", "--yes");
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^Error: lab has machines, but no secrets: .*secrets\/lab\.yaml$/m);
  expect(existsSync(record())).toBe(true);
});

test("secrets that cannot be opened are not taken for none: nothing is planned with others, nothing called gone", async () => {
  mkdirSync(join(root, "secrets"));
  writeFileSync(
    join(root, "secrets/lab.yaml"),
    "-----BEGIN AGE ENCRYPTED FILE-----\n-----END AGE ENCRYPTED FILE-----\n",
  );
  writeFileSync(record(), JSON.stringify({ v: 1, machines: [machine] }));
  for (const words of [
    ["plan", "lab"],
    ["destroy", "lab", "--yes"],
    ["status", "lab"],
  ]) {
    const context = testContext({ cwd: root, env: { SOPS_AGE_KEY_FILE: "/nowhere/keys.txt" } });
    await runProgram(createProgram(context, [registerPlan, registerDestroy, registerStatus]), words, context);
    expect(context.written.stderr).toContain("Error: open /nowhere/keys.txt: no such file or directory");
    expect([context.written.stdout, context.written.exitCode]).toEqual(["", 1]);
  }
  expect(existsSync(record())).toBe(true);
});

test.each(["up lab --yes", "up lab", "plan lab"])(
  "%s makes no new secrets for machines that have run",
  async (line) => {
    writeFileSync(record(), JSON.stringify({ v: 1, machines: [machine] }));
    const { stderr, exitCode } = await talosmith(...line.split(" "));
    expect(stderr).toMatch(/^Error: lab has machines, but no secrets: .*secrets\/lab\.yaml$/m);
    expect(stderr).toContain("m-1: restore the file from your backup");
    expect(exitCode).toBe(1);
    expect(existsSync(join(root, "secrets"))).toBe(false);
  },
);

test("up makes no secrets on a build machine, as the provider", async () => {
  const context = testContext({ cwd: root, env: { CI: "true" } });
  await runProgram(createProgram(context, [registerUp]), ["up", "lab", "--yes"], context);
  const { stderr, exitCode } = context.written;
  expect(stderr).toMatch(
    /^Error: secrets would be lost with this machine: .*secrets\/lab\.yaml does not exist, and CI is set$/m,
  );
  expect(stderr).toContain("talosmith gen secrets --output-file");
  expect(exitCode).toBe(1);
  expect([existsSync(join(root, "secrets")), existsSync(record())]).toEqual([false, false]);
});

test("up writes no plain secrets into a file that is named as an encrypted one", async () => {
  writeFileSync(
    join(root, "environments/lab.yaml"),
    `${readFileSync(join(root, "environments/lab.yaml"), "utf8")}secrets: { file: secrets/lab.yaml.age }\n`,
  );
  const { stderr, exitCode } = await talosmith("up", "lab", "--yes");
  expect(stderr).toContain("no age recipient");
  expect(exitCode).toBe(1);
  expect(existsSync(join(root, "secrets"))).toBe(false);
});

test("what was never deployed is destroyed without secrets", async () => {
  const { stderr, exitCode } = await talosmith("destroy", "lab", "--yes");
  expect([stderr, exitCode]).toEqual(["Planning lab\nlab is not deployed: nothing to destroy.\n", 0]);
});
