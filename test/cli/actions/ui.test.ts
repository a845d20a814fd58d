// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { registerUi } from "../../../cli/commands/project.ts";
import { findBrowser, openInBrowser } from "../../../cli/open-browser.ts";
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

const bin = join(folder, "bin");
mkdirSync(bin);
for (const name of ["xdg-open", "open", "lynx"])
  writeFileSync(join(bin, name), `#!/bin/sh\necho "$@" > "${folder}/arguments"\n`, { mode: 0o755 });
const opener = (name: string, ...args: readonly string[]) => ({ command: [join(bin, name), ...args] });
const nobodyExpects = { missing: "" };

test.each<[string, NodeJS.Platform, Record<string, string>, boolean, object]>([
  ["a desktop", "linux", { DISPLAY: ":0" }, true, opener("xdg-open")],
  ["a desktop over SSH", "linux", { DISPLAY: "localhost:10.0", SSH_TTY: "/dev/pts/0" }, true, opener("xdg-open")],
  ["a Mac", "darwin", {}, true, opener("open")],
  ["Windows", "win32", {}, true, { command: ["cmd", "/c", "start", ""] }],
  ["one that BROWSER names", "linux", { BROWSER: "lynx" }, true, opener("lynx")],
  ["the first that is there", "linux", { BROWSER: "/nowhere/firefox:lynx -x %s" }, true, opener("lynx", "-x", "%s")],
  ["none, as BROWSER says", "darwin", { BROWSER: "none" }, true, nobodyExpects],
  ["CI", "linux", { CI: "true", DISPLAY: ":0" }, true, nobodyExpects],
  ["a pipe", "darwin", {}, false, nobodyExpects],
  [
    "a name that leads nowhere",
    "linux",
    { BROWSER: "firefoxx" },
    true,
    { missing: "firefoxx, which BROWSER names, is no program on the PATH" },
  ],
  [
    "a Mac over SSH",
    "darwin",
    { SSH_CONNECTION: "192.0.2.7 1 192.0.2.8 22" },
    true,
    { missing: "this is a session over SSH" },
  ],
  ["a server", "linux", {}, true, { missing: "there is no display" }],
  [
    "a desktop without its opener",
    "linux",
    { DISPLAY: ":0", PATH: "" },
    true,
    { missing: "xdg-open is not on the PATH: install it, or name a browser with BROWSER" },
  ],
  [
    "a system without a known opener",
    "aix",
    { DISPLAY: ":0" },
    true,
    { missing: "how to open one on aix is not known: name it with BROWSER" },
  ],
])("which browser is opened, or why none is: %s", (_where, platform, env, isTerminal, expected) => {
  const stderr = { write: () => {}, isTerminal };
  expect(findBrowser({ env: { PATH: bin, ...env }, stderr }, platform)).toEqual(expected);
});

test.each([
  ["at the end", [], (file: string) => `${file}\n`],
  ["where %s stands", ["--new", "file:%s"], (file: string) => `--new file:${file}\n`],
])(
  "the browser gets a private file that leads to the page %s, and never the token as an argument",
  async (_, args, expected) => {
    rmSync(join(folder, "arguments"), { force: true });
    const address = "http://127.0.0.1:1/#token=secret";
    const file = await openInBrowser(address, folder, opener("xdg-open", ...args), { env: {} });
    await expect.poll(() => existsSync(join(folder, "arguments"))).toBe(true);
    await expect.poll(() => readFileSync(join(folder, "arguments"), "utf8")).toBe(expected(file));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).toContain(`content="0; url=${address}"`);
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
