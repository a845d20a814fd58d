// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registerReview } from "../../cli/commands/inspect.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { testContext } from "../support/command-context.ts";

describe("talosmith review", () => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-review-"));
  beforeAll(() => {
    mkdirSync(join(root, "environments"));
    // A folder of an environment's name, as people have them, is no plan.
    mkdirSync(join(root, "sandbox"));
    writeFileSync(join(root, "cdktf.json"), "{}");
    for (const name of ["base", "sandbox", "lab", "local"])
      copyFileSync(resolve(`environments/${name}.yaml`), join(root, `environments/${name}.yaml`));
    copyFileSync(resolve("test/golden/plans/scale-down.json"), join(root, "plan.json"));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  async function review(...args: string[]) {
    const context = testContext({ cwd: root, env: { PATH: "/nowhere" } });
    await runProgram(createProgram(context, [registerReview]), ["review", ...args], context);
    return context.written;
  }

  test.each([
    // What base.yaml has in its place is nobody's.
    ["sandbox", "aws_instance", "1 control plane, 1 worker", ["example.com", "203.0.113.0/24"]],
    ["lab", "libvirt_domain", "3 control planes, 2 workers", []],
    ["local", "talosmith_simulated_machine", "3 control planes, 2 workers", []],
  ])("of the environment %s shows what a first apply makes, without any program", async (name, type, size, copied) => {
    const { stdout, exitCode } = await review(name, "--fail-on", "caution");
    expect(stdout).toContain("What a first apply makes");
    expect(stdout).toContain(size);
    expect(stdout).toContain(`| add | \`${type}\` |`);
    expect([...stdout.matchAll(/\*\*Placeholder\*\* \S+ (\S+?),? /g)].map(([, text]) => text)).toEqual(copied);
    // Simulated machines are pinned by the simulator; the files of the others trust the first answer.
    const trusting = name !== "local";
    expect(stdout.includes("**Trust on first use**")).toBe(trusting);
    expect(stdout).toContain(`initial config ${trusting ? "by trust on first use" : "to pinned fingerprints only"}`);
    expect(exitCode).toBe(trusting ? 2 : 0);
  });

  test("of a plan ends with code 2 where it finds what it was told to fail on", async () => {
    expect(await review("plan.json")).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^## 1 danger/) });
    expect(await review("plan.json", "--fail-on", "danger")).toMatchObject({ exitCode: 2 });
  });

  test("as JSON has findings and names, and no value of an attribute", async () => {
    const { stdout } = await review("lab", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ v: 1, basis: "stack", clusters: [{ name: "talos" }] });
    expect(stdout).not.toContain("10.0.0.100");
  });

  test("of a plan that comes through a pipe, as <(terraform show -json plan) gives it", async () => {
    const pipe = join(root, "pipe");
    execFileSync("mkfifo", [pipe]);
    const writing = writeFile(pipe, readFileSync(join(root, "plan.json")));
    expect(await review("pipe")).toMatchObject({ stdout: expect.stringMatching(/^## 1 danger/), exitCode: 0 });
    await writing;
  });

  test("of a file that is not there is told as such outside of a project, where plans are reviewed as well", async () => {
    const context = testContext({ cwd: tmpdir() });
    await runProgram(createProgram(context, [registerReview]), ["review", "plan.json"], context);
    const { stderr, exitCode } = context.written;
    expect([stderr, exitCode]).toEqual(["Error: open plan.json: no such file or directory\n", 1]);
  });

  test("of a name that is neither says what there is", async () => {
    const { stderr, exitCode } = await review("nix");
    expect(stderr).toContain("nix: there is no such file, and no environment of this name");
    expect(stderr).toContain("lab, local, sandbox");
    expect(exitCode).toBe(1);
  });
});
