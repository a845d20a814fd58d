// SPDX-License-Identifier: Apache-2.0
// What a user's machine may be like. The command says the same as ever, or in one sentence why it cannot.
import { rmdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ended, makeProject, mayMount, onOwnDisk, removeProject, talosmith } from "./project.ts";

// A crowded machine takes its time to start a program.
const timeout = 180_000;
const root = makeProject();
let usual: Ended;
beforeAll(async () => {
  usual = await talosmith(["plan", "local"], { cwd: root });
}, timeout);
afterAll(() => removeProject(root));

const colour = "\x1b[";

test("usually a plan names the machine to be made, without colours where there is no terminal", () => {
  expect(usual).toMatchObject({
    code: 2,
    stderr: "local is new: talosmith manages it without Terraform.\nConfig contract: v1.13\nPlanning local\n",
  });
  expect(usual.stdout).toContain("local-cp-1");
  expect(usual.stdout).not.toContain(colour);
});

describe("a plan is the same", { timeout }, () => {
  const rows: readonly [string, Readonly<Record<string, string | undefined>>][] = [
    ["without HOME, PATH or a temporary folder", { HOME: undefined, PATH: undefined, TMPDIR: "/nonexistent" }],
    [
      "under a Turkish locale, at a far end of the world",
      { LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8", TZ: "Pacific/Kiritimati" },
    ],
    ["without a locale, in a time zone that there is not", { LC_ALL: "C", LANG: undefined, TZ: ":/nonsense" }],
    ["with NO_COLOR and a dumb terminal", { NO_COLOR: "1", TERM: "dumb", COLUMNS: "1" }],
  ];
  test.each(rows)("%s", async (_, env) => {
    expect(await talosmith(["plan", "local"], { cwd: root, env })).toEqual(usual);
  });

  test("but for its colours with FORCE_COLOR", async () => {
    const { stdout, code } = await talosmith(["plan", "local"], { cwd: root, env: { FORCE_COLOR: "1" } });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what colours are made of.
    expect({ stdout: stdout.replaceAll(/\x1b\[\d+m/g, ""), code }).toEqual({ stdout: usual.stdout, code: 2 });
  });
});

describe("what cannot work is one sentence and what to do", { timeout }, () => {
  const quiet = expect.not.stringMatching(/ {4}at |fault of talosmith/);

  test("a working directory that is gone", async () => {
    const gone = makeProject();
    const script = `rm -r "$PWD" && exec "$@"`;
    const ended = await talosmith(["plan", "local"], { cwd: gone, script });
    expect(ended).toMatchObject({ code: 1, stderr: quiet });
    expect(ended.stderr).toMatch(/^Error: the working directory is not there any more\n {2}Change into a folder/);
    expect(() => rmdirSync(gone)).toThrow("ENOENT");
  });

  test("an output that is full", async () => {
    const ended = await talosmith(["topology", "local"], { cwd: root, script: `exec "$@" > /dev/full` });
    expect(ended).toMatchObject({ code: 1, stderr: quiet });
    expect(ended.stderr).toContain("Error: the output could not be written: ENOSPC");
  });

  test("a reader that has seen enough is no error", async () => {
    const script = `"$@" | head -c 1 > /dev/null; echo "\${PIPESTATUS:-0}"`;
    expect(await talosmith(["topology", "local"], { cwd: root, script })).toMatchObject({ stderr: "" });
  });

  const full = 'cat /dev/zero > "$disk/fill" 2> /dev/null';
  const disks: readonly [string, string, string, RegExp][] = [
    [
      "a folder that cannot be written",
      "synth local",
      'mount -o remount,ro "$disk"',
      /read-only file system\n {2}Work in/,
    ],
    [
      "a folder that cannot be written",
      "up local",
      'mount -o remount,ro "$disk"',
      /^Error: write .*local\.yaml: read-only file system\n {2}Work in/m,
    ],
    ["a folder that cannot be written", "gen secrets", 'mount -o remount,ro "$disk"', /^Error: write .*read-only/],
    ["a full disk", "gen secrets", full, /^Error: write .*no space left.*\n {2}Make room/],
    ["a full disk", "synth local", full, /^Error: write .*cdk\.tf\.json: no space left.*\n {2}Make room/],
    ["a full disk", "up local", full, /^Error: write .*local\.yaml: no space left.*\n {2}Make room/m],
  ];
  test.skipIf(!mayMount).each(disks)("%s: %s", async (_, line, prepare, words) => {
    const ended = await talosmith(line.split(" "), { cwd: root, script: onOwnDisk(prepare) });
    expect(ended).toMatchObject({ code: 1, stderr: quiet });
    expect(ended.stderr).toMatch(words);
    // Half a file would be worse than none.
    expect(ended.stdout).not.toContain("secrets.yaml");
    expect(ended.stdout).not.toContain("empty file");
  });
});
