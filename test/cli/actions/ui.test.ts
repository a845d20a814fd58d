// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { registerUi } from "../../../cli/commands/project.ts";
import { createProgram, runProgram } from "../../../cli/program.ts";
import { testContext } from "../../support/command-context.ts";

const folder = mkdtempSync(join(tmpdir(), "talosmith-ui-"));
mkdirSync(join(folder, "environments"));
writeFileSync(join(folder, "cdktf.json"), "{}");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function ui(flags: readonly string[], signal: AbortSignal) {
  const context = testContext({ cwd: folder, signal });
  await runProgram(createProgram(context, [registerUi]), ["ui", ...flags], context);
  return context.written;
}

test.each(["0.0.0.0", "::", "192.0.2.7", "::ffff:192.0.2.7", "kvm.example", "127.1"])(
  "does not open itself to other machines at %s without the flag that says what it means",
  async (host) => {
    const { stderr, exitCode } = await ui(["--host", host], new AbortController().signal);
    expect(stderr).toContain("over plain HTTP");
    expect(stderr).toContain("--allow-unencrypted-remote");
    expect(exitCode).toBe(1);
  },
);

test.each([[], ["--host", "127.9.9.9"], ["--host", "localhost"], ["--host", "127.1", "--allow-unencrypted-remote"]])(
  "starts with %j",
  async (...flags) => {
    // The server ends as soon as it is there.
    const { stdout, exitCode } = await ui(flags, AbortSignal.abort());
    expect(stdout).toMatch(/^http:\/\/.*#token=/);
    expect(exitCode).toBe(0);
  },
);
