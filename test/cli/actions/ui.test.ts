// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { registerUi } from "../../../cli/commands/project.ts";
import { hasBrowser, openInBrowser } from "../../../cli/open-browser.ts";
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

test.each<[string, NodeJS.Platform, Record<string, string>, boolean, boolean]>([
  ["a desktop", "linux", { DISPLAY: ":0" }, true, true],
  ["a desktop over SSH", "linux", { DISPLAY: "localhost:10.0", SSH_TTY: "/dev/pts/0" }, true, true],
  ["a Mac", "darwin", {}, true, true],
  ["Windows", "win32", {}, true, true],
  ["a Mac over SSH", "darwin", { SSH_CONNECTION: "192.0.2.7 1 192.0.2.8 22" }, true, false],
  ["a server", "linux", {}, true, false],
  ["CI", "linux", { CI: "true", DISPLAY: ":0" }, true, false],
  ["a pipe", "darwin", {}, false, false],
  ["a system without a known opener", "aix", { DISPLAY: ":0" }, true, false],
])("a browser is opened or not: %s", (_where, platform, env, isTerminal, opens) => {
  const stderr = { write: () => {}, isTerminal };
  expect(hasBrowser({ env, stderr }, platform)).toBe(opens);
});

test("the browser gets a private file that leads to the page, and never the token as an argument", async () => {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "xdg-open"), `#!/bin/sh\necho "$@" > "${folder}/arguments"\n`, { mode: 0o755 });
  const address = "http://127.0.0.1:1/#token=secret";
  const file = (await openInBrowser(address, folder, { env: { PATH: bin } }, "linux")) ?? "";
  await expect.poll(() => existsSync(join(folder, "arguments"))).toBe(true);
  await expect.poll(() => readFileSync(join(folder, "arguments"), "utf8")).toBe(`${file}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).toContain(`content="0; url=${address}"`);
  expect(await openInBrowser(address, folder, { env: { PATH: "" } }, "linux")).toBeUndefined();
});

test.each([[], ["--host", "127.9.9.9"], ["--host", "localhost"], ["--host", "127.1", "--allow-unencrypted-remote"]])(
  "starts with %j",
  async (...flags) => {
    // The server ends as soon as it is there.
    const { stdout, exitCode } = await ui(flags, AbortSignal.abort());
    expect(stdout).toMatch(/^http:\/\/.*#token=/);
    expect(exitCode).toBe(0);
  },
);
