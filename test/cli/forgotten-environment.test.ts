// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createProgram, runProgram } from "../../cli/program.ts";
import { registrations } from "../../cli/registrations.ts";
import { testContext } from "../support/command-context.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "talosmith-forgotten-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function talosmith(...words: readonly string[]) {
  const context = testContext({ cwd: folder });
  await runProgram(createProgram(context, registrations), words, context);
  return context.written;
}

function project(...names: readonly string[]): void {
  writeFileSync(join(folder, "cdktf.json"), "{}");
  mkdirSync(join(folder, "environments"));
  for (const name of names)
    writeFileSync(
      join(folder, "environments", `${name}.yaml`),
      "infrastructure: { kind: simulated }\ncontrolPlane: {}\n",
    );
}

test.each(["status", "plan", "deploy", "topology", "backup list"])(
  "%s without a name tells which there are",
  async (line) => {
    project("home", "lab");
    const { stderr, exitCode } = await talosmith(...line.split(" "));
    expect(stderr).toContain("missing required argument 'environment'");
    expect(stderr).toContain("Environments here: home, lab\n");
    expect(exitCode).toBe(64);
  },
);

test("outside of a project, and in one without environments, there is nothing to tell", async () => {
  expect((await talosmith("status")).stderr).not.toContain("Environments here");
  project();
  expect((await talosmith("status")).stderr).not.toContain("Environments here");
});

test("another argument that is missing has nothing to do with environments", async () => {
  project("lab");
  expect((await talosmith("config", "diff")).stderr).not.toContain("Environments here");
});

test("what is unwise in a file is told by synth as by plan, whichever form is written", async () => {
  project();
  writeFileSync(
    join(folder, "environments/cloud.yaml"),
    "infrastructure: { kind: aws, region: eu-central-1, zones: 1, adminCidrs: [203.0.113.0/24] }\ncontrolPlane: {}\n",
  );
  for (const words of [["synth", "cloud"], ["synth", "cloud", "--hcl"], ["synth"]]) {
    const { stderr, stdout, exitCode } = await talosmith(...words);
    expect(stderr).toContain("found the state in a file on this computer");
    expect(stderr).toContain("cloud: Initial config: by user-data");
    expect(stdout).toMatch(/^(cdktf\.out\/stacks|terraform)\/cloud\n$/);
    expect(exitCode).toBe(0);
  }
  expect((await talosmith("synth", "--check")).stderr).toBe("");
});
