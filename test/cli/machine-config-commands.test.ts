// SPDX-License-Identifier: Apache-2.0
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { golden, goldenText, offlineCommands } from "./offline-commands.ts";

const { folder, here, talosmith } = offlineCommands();

describe.each([
  ["config", "patch"],
  ["machineconfig", "patch"],
  ["mc", "patch"],
])("%s %s", (group, verb) => {
  test("prints the patched config, or writes it", async () => {
    const input = join(golden, "inputs/mini.yaml");
    const patch = `@${join(golden, "patch/list-append/patch.yaml")}`;
    const { expected } = JSON.parse(goldenText("patch/talos-1.14.json")).cases["list-append"];
    expect((await talosmith([group, verb, input, "--patch", patch])).stdout).toBe(`${expected}\n`);
    expect((await talosmith([group, verb, input, "-p", patch, "-o", "out.yaml"])).stdout).toBe("");
    expect(here("out.yaml")).toBe(expected);
  });
});

describe.each([[["config", "validate"]], [["validate"]]])("%j", (command) => {
  const run = (file: string, ...more: string[]) =>
    talosmith([...command, "-c", join(golden, "validate", file, "config.yaml"), ...more]);

  test("says that a config is valid", async () => {
    const { stdout, exitCode } = await run("valid-cp", "-m", "metal");
    expect(stdout).toMatch(/config\.yaml is valid for metal mode\n$/);
    expect(exitCode).toBe(0);
  });

  test("warns, or fails with --strict", async () => {
    const warned = await run("type-join-warning", "-m", "metal");
    expect([warned.stderr, warned.exitCode]).toEqual(['WARNING: use "worker" instead of "join" for machine type\n', 0]);
    const strict = await run("type-join-warning", "--mode", "metal", "--strict");
    expect(strict.stderr).toContain('warning: use "worker" instead of "join" for machine type');
    expect(strict.exitCode).toBe(1);
  });

  test("tells errors as text or as JSON, with exit code 1", async () => {
    const text = await run("no-machine-ca", "-m", "metal");
    expect(text.stderr).toContain("* issuing CA or some accepted CAs are required (.machine.ca, machine.acceptedCAs)");
    expect(text.exitCode).toBe(1);
    const json = await run("no-machine-ca", "-m", "metal", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({ valid: false, mode: "metal" });
    expect(json.exitCode).toBe(1);
  });

  test("takes the rules of the release that is named, else of the newest", async () => {
    const old = await run("no-install", "-m", "metal", "--talos-version", "v1.13");
    expect(old.stderr).toContain('* install instructions are required in "metal" mode');
    expect((await run("no-install", "-m", "metal")).exitCode).toBe(0);
  });

  test("does not know other modes", async () => {
    expect((await run("valid-cp", "-m", "foo")).stderr).toContain('unknown runtime mode: "foo"');
    expect((await run("valid-cp")).exitCode).toBe(64);
  });
});

describe("bad input is told with its place, and nothing is written", () => {
  const valid = goldenText("config/1.13/current/default/worker.yaml");
  test.each([
    ["a truncated file", valid.slice(0, 400).replace(/\n[^\n]*$/, "\n    certSANs: [a"), /^Error: bad\.yaml:\d+:\d+: /],
    [
      "a key twice",
      valid.replace("persist: true", "persist: true\npersist: true"),
      /^Error: bad\.yaml:4:1: found key "persist" again/,
    ],
    ["900 nested brackets", `a: ${"[".repeat(900)}`, /^Error: bad\.yaml:1:\d+: found more than 100 levels of nesting/],
    [
      "more than a megabyte",
      `a: ${"x".repeat(1_100_000)}`,
      /^Error: bad\.yaml: found \d+ bytes of YAML, expected at most 1048576/,
    ],
    [
      "an alias bomb",
      "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]",
      /^Error: bad\.yaml:\d+:\d+: found more than/,
    ],
    ["wrong base64", valid.replace(/crt: \S+/, "crt: '*not base64*'"), /illegal base64 data at input byte 0/],
    [
      "a misspelled key",
      valid.replace("certSANs", "certSAN"),
      /bad\.yaml:10:5: machine\.certSAN is not a known field, the nearest known field is certSANs\./,
    ],
    ["text for a number", valid.replace("port: 7445", "port: abc"), /line 24: cannot construct !!str `abc` into int/],
    [
      "a list for a map",
      valid.replace(/kubelet:\n/, "sysctls: [a]\n    kubelet:\n"),
      /cannot construct !!seq into map\[string\]string/,
    ],
  ])("%s", async (_, text, message) => {
    writeFileSync(join(folder.path, "bad.yaml"), text);
    for (const args of [
      ["config", "validate", "-c", "bad.yaml", "-m", "metal"],
      ["config", "patch", "bad.yaml", "-p", '{"machine":{"token":"x"}}', "-o", "out.yaml"],
      ["config", "redact", "bad.yaml"],
    ]) {
      const { exitCode, stderr, stdout } = await talosmith(args);
      expect(stderr).toMatch(message);
      expect([exitCode, stdout]).toEqual([1, ""]);
    }
    expect(readdirSync(folder.path)).toEqual(["bad.yaml"]);
  });
});

test("a config that was pasted below another shows none of its secrets in the error", async () => {
  const config = goldenText("config/1.13/current/default/controlplane.yaml");
  writeFileSync(join(folder.path, "twice.yaml"), config + config);
  const { stderr } = await talosmith(["config", "validate", "-c", "twice.yaml", "-m", "metal"]);
  expect(stderr).toContain("unknown keys found during decoding");
  const values = [...config.matchAll(/^ +(?:key|token|secret|secretboxEncryptionSecret): (\S+)$/gm)].map(([, v]) => v);
  expect(values.length).toBeGreaterThan(5);
  for (const value of values) expect(stderr).not.toContain(value);
});

test("a file that is not UTF-8 is refused rather than changed", async () => {
  writeFileSync(join(folder.path, "latin.yaml"), Buffer.from("machine: {sysctls: {a: \xe9}}\n", "latin1"));
  const { stderr, exitCode } = await talosmith(["config", "patch", "latin.yaml", "-p", "machine: {}"]);
  expect([exitCode, stderr.split("\n")[0]]).toEqual([1, "Error: latin.yaml: found bytes that are not UTF-8"]);
});

describe("config diff", () => {
  const config = (name: string): string => join(golden, "config/1.13/current", name, "controlplane.yaml");

  test("tells changes for people and for programs", async () => {
    const { stdout, stderr, exitCode } = await talosmith(["config", "diff", config("default"), config("install-disk")]);
    expect(stdout).toBe("~ v1alpha1: machine.install.disk\n    - /dev/sda\n    + /dev/nvme0n1\n");
    expect(stderr).toBe("1 change; no reboot needed.\n");
    expect(exitCode).toBe(0);
    const json = await talosmith([
      "config",
      "diff",
      config("default"),
      config("install-disk"),
      "--json",
      "--detailed-exitcode",
    ]);
    expect(JSON.parse(json.stdout)).toMatchObject({ reboot: false, changes: [{ path: "machine.install.disk" }] });
    expect(json.exitCode).toBe(2);
  });

  test("is quiet about equal configs", async () => {
    const { stdout, exitCode } = await talosmith([
      "config",
      "diff",
      config("default"),
      config("default"),
      "--detailed-exitcode",
    ]);
    expect([stdout, exitCode]).toEqual(["", 0]);
  });
});

test("config redact hides the keys", async () => {
  const { stdout } = await talosmith([
    "config",
    "redact",
    join(golden, "config/1.13/current/default/controlplane.yaml"),
  ]);
  expect(stdout).toContain("token: '******'");
  expect(stdout).not.toContain("1ult97.7s1tfp0tgwb8vv16");
});
