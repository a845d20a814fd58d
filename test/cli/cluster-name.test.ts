// SPDX-License-Identifier: Apache-2.0
// An environment whose cluster has another name: what is written under the one must not be looked for under the other.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createProgram, runProgram } from "../../cli/program.ts";
import { registrations } from "../../cli/registrations.ts";
import { systemClock } from "../../talos/clock.ts";
import { testContext } from "../support/command-context.ts";
import { zipEntries } from "../support/zip-entries.ts";

describe("an environment with a cluster of another name", () => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-names-"));
  const environment = `
infrastructure: { kind: simulated }
cluster: { name: blue }
controlPlane: { count: 1 }
backup: { directory: backups/blue }
`;

  async function talosmith(...args: string[]) {
    const context = testContext({ cwd: root, clock: systemClock });
    await runProgram(createProgram(context, registrations), args, context);
    return context.written;
  }

  beforeAll(async () => {
    vi.stubEnv("TALOSMITH_SIMULATOR_TIME_SCALE", "0.2");
    mkdirSync(join(root, "environments"));
    writeFileSync(join(root, "cdktf.json"), "{}");
    writeFileSync(join(root, "environments/tiny.yaml"), environment);
    expect(await talosmith("up", "tiny", "--yes")).toMatchObject({ exitCode: 0 });
  });

  afterAll(async () => {
    await talosmith("sim", "down", "--all");
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true, force: true });
  });

  test.each<[readonly string[], RegExp]>([
    [["plan", "tiny"], /Nothing to change/],
    [["status", "tiny"], /blue-cp-1 .*running/],
    [["unlock", "tiny"], /Nobody holds it/],
    [["kubeconfig", "tiny", "--force"], /generated\/tiny\/kubeconfig/],
    [["backup", "create", "tiny"], /blue-\w+/],
    [["backup", "list", "tiny"], /blue-\w+/],
    [["support", "tiny", "--output", "support.zip"], /support\.zip/],
    [["rotate-ca", "tiny", "--yes"], /\S/],
  ])("%j finds what the deploy has written", async (words, said) => {
    const { stdout, stderr, exitCode } = await talosmith(...words);
    expect(stdout + stderr).toMatch(said);
    expect(stdout + stderr).not.toMatch(/not deployed|not there|missing/);
    expect(exitCode).toBe(0);
  });

  test("the support archive has the journal", async () => {
    const names = [...zipEntries(readFileSync(join(root, "support.zip"))).keys()];
    expect(names).toEqual(expect.arrayContaining(["support-tiny/journal.jsonl", "support-tiny/status.json"]));
  });

  test("every file that a destroy leaves is named", async () => {
    rmSync(join(root, "support.zip"));
    const { stderr, exitCode } = await talosmith("down", "tiny", "--yes");
    expect(exitCode).toBe(0);
    await expect.poll(() => readdirSync(join(root, "generated")), { timeout: 5000 }).not.toContain(".simulator");
    const given = new Set(["cdktf.json", "environments/tiny.yaml"]);
    const left = readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
      .filter((file) => !given.has(file));
    expect(left).toContain("generated/blue/journal.jsonl");
    const named = [...stderr.matchAll(/([^\s,]+) \(/g)].map(([, path = ""]) => path);
    expect(left.filter((file) => !named.some((path) => file === path || file.startsWith(`${path}/`)))).toEqual([]);
  });
});
