// SPDX-License-Identifier: Apache-2.0
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { registerConfig } from "../../cli/commands/config.ts";
import { relativeTime } from "../../cli/output/relative-time.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { parseTalosconfig } from "../../talos/config/index.ts";
import { testContext } from "../support/command-context.ts";

const golden = new URL("../golden/config/1.13/current/default/talosconfig", import.meta.url).pathname;

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "talosmith-talosconfig-"));
});
afterEach(() => rmSync(cwd, { recursive: true }));

async function config(args: readonly string[], env: Record<string, string> = { TALOSCONFIG: "talosconfig" }) {
  const context = testContext({ cwd, env, clock: { now: () => new Date("2026-08-20T12:00:00Z") } });
  await runProgram(createProgram(context, [registerConfig]), ["config", ...args], context);
  return context.written;
}

const here = (file = "talosconfig"): string => readFileSync(join(cwd, file), "utf8");
const write = (text: string, file = "talosconfig"): void => writeFileSync(join(cwd, file), text);

const two = `context: b
contexts:
    a:
        endpoints: []
    b:
        endpoints:
            - 1.1.1.1
        nodes:
            - n1
            - n2
            - n3
            - n4
`;

describe("contexts of the talosconfig", () => {
  test("are listed as talosctl lists them, spaces included", async () => {
    write(two);
    const { stdout } = await config(["contexts"]);
    expect(stdout).toBe(
      "CURRENT   NAME   ENDPOINTS   NODES\n          a                  \n*         b      1.1.1.1     n1,n2,n3...\n",
    );
    expect(JSON.parse((await config(["get-contexts", "--json"])).stdout)).toEqual({
      v: 1,
      contexts: [
        { name: "a", current: false, endpoints: [], nodes: [] },
        { name: "b", current: true, endpoints: ["1.1.1.1"], nodes: ["n1", "n2", "n3", "n4"] },
      ],
    });
  });

  test.each([
    [["context", "a"], two.replace("context: b", "context: a")],
    [["endpoint", "2.2.2.2", " 3.3.3.3 "], two.replace("- 1.1.1.1", "- 2.2.2.2\n            - 3.3.3.3")],
    [["endpoints", "2.2.2.2", "--context", "a"], two.replace("endpoints: []", "endpoints:\n            - 2.2.2.2")],
    [["nodes"], two.slice(0, two.indexOf("        nodes:"))],
    [["remove", "*", "-y"], two.replace("    a:\n        endpoints: []\n", "")],
    [["remove", "*", "-y", "--dry-run"], two],
  ])("are changed by %j", async (args, expected) => {
    write(two);
    const { exitCode, stdout } = await config(args);
    expect([exitCode, stdout]).toEqual([0, ""]);
    expect(here()).toBe(expected);
    expect(statSync(join(cwd, "talosconfig")).mode & 0o777).toBe(args.includes("--dry-run") ? 0o644 : 0o600);
  });

  test.each([
    [["context", "c"], 1, 'context "c" is not defined'],
    [["endpoint", "x", "--context", "c"], 1, 'context "c" is not defined'],
    [["remove", "c*", "-y"], 1, 'no contexts matched "c*"'],
    [["remove", "a"], 1, "Add --noconfirm"],
    [["merge", "nowhere"], 1, "nowhere: no such file or directory"],
    [["add", "c", "--crt", "x"], 1, "if either the 'crt' or 'key' flag is specified, both are required"],
    [["endpoint"], 64, "missing required argument"],
  ])("stay as they are after %j", async (args, code, message) => {
    write(two);
    const { exitCode, stderr } = await config(args);
    expect(stderr).toContain(message);
    expect([exitCode, here(), readdirSync(cwd)]).toEqual([code, two, ["talosconfig"]]);
  });

  test("of another file are merged, renamed where they collide, and its context becomes current", async () => {
    write(two);
    copyFileSync(golden, join(cwd, "other"));
    expect((await config(["merge", "other"])).stderr).toBe("");
    expect((await config(["merge", "other"])).stderr).toBe('renamed talosconfig context "golden" -> "golden-1"\n');
    const merged = parseTalosconfig(here(), "talosconfig");
    expect([...merged.contexts.keys()]).toEqual(["a", "b", "golden", "golden-1"]);
    expect(merged.context).toBe("golden-1");
  });

  test("are added with the certificates of files, which must belong together", async () => {
    const { credentials } = parseTalosconfig(readFileSync(golden, "utf8"), "golden").contexts.get("golden") ?? {};
    write(credentials?.ca ?? "", "ca.pem");
    write(credentials?.certificate ?? "", "crt.pem");
    write(credentials?.key ?? "", "key.pem");
    expect((await config(["add", "new", "--ca", "ca.pem", "--crt", "crt.pem", "--key", "key.pem"])).exitCode).toBe(0);
    expect(parseTalosconfig(here(), "t").contexts.get("new")).toEqual({ endpoints: [], credentials });
    const mixed = await config(["add", "mixed", "--crt", "ca.pem", "--key", "key.pem"]);
    expect(mixed.stderr).toContain("key.pem is not the key of the certificate ca.pem");
    expect((await config(["add", "wrong", "--ca", "key.pem"])).exitCode).toBe(1);
    expect([...parseTalosconfig(here(), "t").contexts.keys()]).toEqual(["new"]);
  });

  test("are not added from a file that is not there, which is the user's trouble and not ours", async () => {
    const { stderr, exitCode } = await config(["add", "new", "--ca", "nowhere.pem"]);
    expect([stderr, exitCode]).toEqual(["Error: open nowhere.pem: no such file or directory\n", 1]);
    expect(existsSync(join(cwd, "talosconfig"))).toBe(false);
  });
});

describe("config info", () => {
  test("tells roles and expiry, as talosctl does", async () => {
    copyFileSync(golden, join(cwd, "talosconfig"));
    expect((await config(["info"])).stdout).toBe(
      [
        "Current context:     golden",
        "Nodes:               not defined",
        "Endpoints:           not defined",
        "Roles:               os:admin",
        "Certificate expires: 1 year from now (2027-11-16)",
        "",
      ].join("\n"),
    );
    const json = JSON.parse((await config(["info", "-o", "json"])).stdout);
    expect(json).toMatchObject({
      context: "golden",
      nodes: null,
      endpoints: [],
      roles: ["os:admin"],
      certNotAfter: "2027-11-16",
    });
    expect((await config(["info", "-o", "yaml"])).stdout).toContain(
      "nodes: []\nendpoints: []\nroles:\n    - os:admin\n",
    );
  });

  test.each([
    ["", "no context is set"],
    ["context: x\n", 'context "x" is not defined'],
  ])("of %j is refused", async (text, message) => {
    if (text !== "") write(text);
    const { stderr, exitCode } = await config(["info"]);
    expect(stderr).toContain(message);
    expect([exitCode, existsSync(join(cwd, "talosconfig"))]).toEqual([1, text !== ""]);
  });

  test.each([
    [0, "now"],
    [1500, "1 second from now"],
    [-59_000, "59 seconds ago"],
    [90_000, "1 minute from now"],
    [-3_540_000, "59 minutes ago"],
    [5_400_000, "1 hour from now"],
    [23.5 * 3_600_000, "23 hours from now"],
    [86_400_000 * 1.5, "1 day from now"],
    [86_400_000 * 6.9, "6 days from now"],
    [86_400_000 * 10, "1 week from now"],
    [86_400_000 * 29, "4 weeks from now"],
    [86_400_000 * 45, "1 month from now"],
    [86_400_000 * 300, "10 months from now"],
    [86_400_000 * 365, "1 year from now"],
    [86_400_000 * 700, "2 years from now"],
    [86_400_000 * 3650, "10 years from now"],
    [-86_400_000 * 20_000, "a long while ago"],
  ])("a moment %i milliseconds away is %s", (distance, words) => {
    const now = new Date("2026-11-16T12:00:00Z");
    expect(relativeTime(new Date(now.getTime() + distance), now)).toBe(words);
  });
});

test("config redact prints the config inside JSON where asked", async () => {
  const file = new URL("../golden/config/1.13/current/default/worker.yaml", import.meta.url).pathname;
  const plain = (await config(["redact", file])).stdout;
  expect(JSON.parse((await config(["redact", file, "--json"])).stdout)).toEqual({ config: plain });
});
