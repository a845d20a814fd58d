// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createProgram, runProgram } from "../../cli/program.ts";
import { registrations } from "../../cli/registrations.ts";
import { testContext } from "../support/command-context.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-typing-"));
beforeAll(() => {
  mkdirSync(join(root, "environments"));
  writeFileSync(join(root, "cdktf.json"), "{}");
  for (const name of ["local", "production"])
    writeFileSync(join(root, `environments/${name}.yaml`), "infrastructure: { kind: simulated }\n");
});
afterAll(() => rmSync(root, { recursive: true }));

async function talosmith(...args: string[]) {
  const context = testContext({ cwd: root });
  await runProgram(createProgram(context, registrations), args, context);
  return context.written;
}

describe("a typing error names what was most likely meant", () => {
  test.each([
    ["deply loca", "talosmith deploy local"],
    ["deply local", "talosmith deploy local"],
    ["deply local --without-terraform", "talosmith deploy local …"],
    ["deply", "talosmith deploy"],
    ["upgrade tals local", "talosmith upgrade talos local"],
    ["stauts producton --json", "talosmith status production …"],
    ["backup lst loca", "talosmith backup list local"],
    ["status local --jsn", "talosmith status local --json"],
    ["config migrate loca --too v1.14", "talosmith config migrate local --to …"],
    ["health loca --wait-timout=0", "talosmith health local --wait-timeout=0"],
    ["images defualt", "talosmith images default"],
  ])("%s", async (line, meant) => {
    const { stderr, exitCode } = await talosmith(...line.split(" "));
    expect(stderr).toContain(`Did you mean: ${meant}\n`);
    expect(exitCode).toBe(64);
  });

  test.each(["zzzzqqq", "xq", "status local --zzzzqqq", "upgrade local talso"])(
    "nothing is named that is not near: %s",
    async (line) => {
      const { stderr, exitCode } = await talosmith(...line.split(" "));
      expect(stderr).not.toContain("Did you mean");
      expect(exitCode).toBe(64);
    },
  );

  test.each(["status", "review"])("an environment alone after %s", async (command) => {
    const { stderr, exitCode } = await talosmith(command, "loca");
    expect(stderr).toContain("Did you mean local? There are: local, production.");
    expect(exitCode).toBe(1);
  });

  test("a machine that is typed as an argument", async () => {
    const { stderr, exitCode } = await talosmith("logs", "-e", "local", "cp-1", "kubelet");
    expect(stderr).toContain("Machines are named with -n, such as -n cp-1.\n");
    expect(exitCode).toBe(64);
  });

  test("outside of a project", async () => {
    const context = testContext({ cwd: tmpdir() });
    await runProgram(createProgram(context, registrations), ["deply", "loca"], context);
    expect(context.written.stderr).toContain("Did you mean: talosmith deploy …\n");
  });
});

test("without a command, help goes to stdout and is no failure", async () => {
  const { stdout, stderr, exitCode } = await talosmith();
  expect(stdout).toContain("Usage: talosmith");
  expect([stderr, exitCode]).toEqual(["", 0]);
});

test("-y is --yes wherever that is", () => {
  const program = createProgram(testContext(), registrations);
  const all = (command: typeof program): (typeof program)[] => [command, ...command.commands.flatMap(all)];
  const asking = all(program).flatMap(({ options }) => options.filter(({ long }) => long === "--yes"));
  expect(asking.length).toBeGreaterThan(8);
  expect(asking.filter(({ short }) => short !== "-y")).toEqual([]);
});
