// SPDX-License-Identifier: Apache-2.0
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { registerConfig } from "../../cli/commands/config.ts";
import { registerGen } from "../../cli/commands/gen.ts";
import { registerImage } from "../../cli/commands/image.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { parseTalosconfig } from "../../talos/config/index.ts";
import { testContext } from "../support/command-context.ts";

const golden = fileURLToPath(new URL("../golden/", import.meta.url));
const goldenText = (path: string): string => readFileSync(join(golden, path), "utf8");
const secretsFile = join(golden, "secrets/secrets-v1.13.yaml");

let root: string;
let cwd: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "talosmith-cli-"));
});
afterAll(() => rmSync(root, { recursive: true }));
beforeEach(() => {
  cwd = mkdtempSync(join(root, "cwd-"));
});

async function talosmith(args: readonly string[], env: Record<string, string> = {}) {
  const context = testContext({ cwd, env });
  await runProgram(createProgram(context, [registerGen, registerConfig, registerImage]), args, context);
  return context.written;
}

const here = (path: string): string => readFileSync(join(cwd, path), "utf8");
const endpoint = "https://10.5.0.10:6443";
const genConfig = ["gen", "config", "golden", endpoint, "--with-secrets", secretsFile];

describe("gen config", () => {
  test("writes the files of talosctl, private, and says so on stderr", async () => {
    const { stdout, stderr, exitCode } = await talosmith([...genConfig, "--with-docs=false", "--with-examples=false"]);
    expect([stdout, exitCode]).toEqual(["", 0]);
    expect(stderr).toBe("Created controlplane.yaml\nCreated worker.yaml\nCreated talosconfig\n");
    expect(here("controlplane.yaml")).toBe(goldenText("config/1.13/current/default/controlplane.yaml"));
    expect(here("worker.yaml")).toBe(goldenText("config/1.13/current/default/worker.yaml"));
    for (const file of readdirSync(cwd)) expect(statSync(join(cwd, file)).mode & 0o777).toBe(0o600);
  });

  interface Case {
    readonly id: string;
    readonly machinery: string;
    readonly talosVersionFlag: string | null;
    readonly talosctlArgs: readonly string[];
    readonly secrets: string;
    readonly files: Readonly<Record<string, string>>;
  }
  const cases: readonly Case[] = JSON.parse(goldenText("config/index.json"));
  const ours = cases.filter((row) => row.machinery === "v1.13.9");
  test.each(ours.map((row) => [row.id, row] as const))("takes talosctl's arguments of %s", async (_, row) => {
    symlinkSync(join(golden, "config"), join(cwd, "config"));
    const version = row.talosVersionFlag === null ? [] : ["--talos-version", row.talosVersionFlag];
    const args = ["gen", "config", "golden", endpoint, "--with-secrets", join(golden, row.secrets), ...version];
    const { exitCode, stderr } = await talosmith([...args, ...row.talosctlArgs, "--output", "out"]);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("Created out/worker.yaml")]);
    for (const file of ["controlplane.yaml", "worker.yaml"])
      expect(here(`out/${file}`)).toBe(goldenText(row.files[file] ?? ""));
  });

  test("prints a single output type to stdout", async () => {
    const { stdout } = await talosmith([...genConfig, "-t", "worker", "-o", "-"]);
    expect(stdout).toBe(goldenText("config/1.13/current/default/worker.yaml"));
  });

  test("writes nothing when one file is in the way, and everything with --force", async () => {
    writeFileSync(join(cwd, "worker.yaml"), "precious");
    const refused = await talosmith(genConfig);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain('worker.yaml" already exists, use --force to overwrite');
    expect(readdirSync(cwd)).toEqual(["worker.yaml"]);
    expect(here("worker.yaml")).toBe("precious");
    expect((await talosmith([...genConfig, "--force", "--json"])).stdout).toBe(
      '{"files":[{"type":"controlplane","path":"controlplane.yaml"},{"type":"worker","path":"worker.yaml"},{"type":"talosconfig","path":"talosconfig"}]}\n',
    );
    expect(here("worker.yaml")).toContain("type: worker");
  });

  test("makes the documents of 1.14 with that release's own versions", async () => {
    await talosmith([...genConfig, "--talos-version", "v1.14", "--output-dir", "new"]);
    expect(here("new/controlplane.yaml")).toContain("ghcr.io/siderolabs/kubelet:v1.37.0-rc.0");
    expect(here("new/controlplane.yaml")).toContain("kind: UnattendedInstallConfig");
  });

  test.each([
    [["gen", "config", "demo"], 64, "missing required argument 'cluster endpoint'"],
    [["gen", "config", "demo", "1.2.3.4"], 1, "no scheme and port specified for the cluster endpoint URL"],
    [
      [...genConfig, "--kubernetes-version", "1.10.0"],
      1,
      "version of Kubernetes 1.10.0 is too old to be used with Talos 1.13.9",
    ],
    [[...genConfig, "--kubernetes-version", "1.36"], 1, '"1.36" is not a Kubernetes version'],
    [[...genConfig, "--talos-version", "v1.99"], 1, "expected 1.9 to 1.14"],
    [[...genConfig, "--registry-mirror", "foo"], 1, 'invalid registry mirror spec: "foo"'],
    [[...genConfig, "-t", ""], 1, "at least one output type must be specified"],
    [[...genConfig, "--with-kubespan=maybe"], 64, "option '--with-kubespan': found \"maybe\", expected true or false"],
    [[...genConfig, "--version", "v2"], 64, "Allowed choices are v1alpha1"],
    [[...genConfig, "-t", "foo"], 1, 'invalid output type: "foo"'],
    [[...genConfig, "-o", "-"], 1, "can't use multiple output types with stdout"],
    [[...genConfig, "--config-patch", "@none.yaml"], 1, "open none.yaml: no such file or directory"],
    [[...genConfig, "--config-patch", '{"machine":{"bogus":1}}'], 1, "machine.bogus is not a known field"],
    [["gen", "config", "demo", endpoint, "--with-secrets", "none.yaml"], 1, "none.yaml: no such file or directory"],
    [[...genConfig, "--no-such-flag"], 64, "unknown option '--no-such-flag'"],
  ])("refuses %j", async (args, code, message) => {
    const { exitCode, stderr, stdout } = await talosmith(args);
    expect(stderr).toContain(message);
    expect([exitCode, stdout]).toEqual([code, ""]);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

describe("gen config, as scripts for talosctl call it", () => {
  const worker = async (...args: string[]) => {
    const { stdout, stderr } = await talosmith([...genConfig, "-t", "worker", "-o", "-", ...args]);
    expect(stderr).toBe("");
    return stdout;
  };

  test.each(["1", "t", "T", "TRUE", "True"])("--switch=%s is on", async (value) => {
    expect(await worker(`--with-kubespan=${value}`)).toBe(await worker("--with-kubespan"));
  });

  test.each(["0", "f", "F", "FALSE", "False"])("--switch=%s is off, also for one without a negation", async (value) => {
    expect(await worker(`--with-kubespan=${value}`, `--force=${value}`)).toBe(await worker());
    expect(await worker(`--with-cluster-discovery=${value}`)).toBe(await worker("--with-cluster-discovery=false"));
  });

  test("has its own --version, and an empty --talos-version is none", async () => {
    expect(await worker("--version", "v1alpha1", "--talos-version", "")).toBe(await worker());
  });

  test("reads the result of a JSON patch again, so that its form is that of any config", async () => {
    const json = '[{"op":"replace","path":"/machine/install/disk","value":"/dev/vdb"}]';
    const old = ["--talos-version", "v1.10"];
    expect(await worker(...old, "--config-patch", json)).toBe(await worker(...old, "--install-disk", "/dev/vdb"));
    const wrong = '[{"op":"add","path":"/machine/bogus","value":1}]';
    const { stderr } = await talosmith([...genConfig, "-t", "worker", "-o", "-", ...old, "--config-patch", wrong]);
    expect(stderr).toContain("machine.bogus is not a known field");
  });

  test("names the file of a faulty patch", async () => {
    writeFileSync(join(cwd, "p.yaml"), "machine:\n  bogus: 1\n");
    const { stderr } = await talosmith([...genConfig, "--config-patch-worker", "@p.yaml"]);
    expect(stderr).toContain("p.yaml:2:3: machine.bogus is not a known field");
  });

  test("tells what the file system refuses, as the user's trouble and not ours", async () => {
    writeFileSync(join(cwd, "file"), "old");
    mkdirSync(join(cwd, "folder"));
    const blocked = await talosmith([...genConfig, "-o", "file"]);
    expect(blocked.stderr).toBe(`Error: write ${join(cwd, "file/controlplane.yaml")}: not a directory\n`);
    const folder = await talosmith([...genConfig, "-t", "worker", "-o", "folder", "--force"]);
    expect(folder.stderr).toMatch(/^Error: write \S+folder: .*directory.*\n$/);
    const below = await talosmith(["gen", "secrets", "-o", "file/secrets.yaml"]);
    expect(below.stderr).toBe(`Error: write ${join(cwd, "file/secrets.yaml")}: not a directory\n`);
    const read = await talosmith(["config", "validate", "-c", "folder", "-m", "metal"]);
    expect(read.stderr).toMatch(/^Error: open folder: .*directory.*\n$/);
    expect([blocked, folder, below, read].map(({ exitCode }) => exitCode)).toEqual([1, 1, 1, 1]);
    expect(readdirSync(cwd)).toEqual(["file", "folder"]);
  });
});

describe("gen secrets", () => {
  test("refuses a bootstrap token that no kubelet would take, without repeating it", async () => {
    const { stderr, exitCode } = await talosmith(["gen", "secrets", "-t", "hunter2"]);
    expect(stderr).toContain("the bootstrap token has the wrong form");
    expect(stderr).not.toContain("hunter2");
    expect([exitCode, readdirSync(cwd)]).toEqual([1, []]);
  });

  test("writes a private bundle once, and never over an existing one", async () => {
    const { stdout, exitCode } = await talosmith(["gen", "secrets", "--json"]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ file: "secrets.yaml", caFingerprint: expect.stringMatching(/^.{43}=$/) });
    expect(statSync(join(cwd, "secrets.yaml")).mode & 0o777).toBe(0o600);
    const before = here("secrets.yaml");
    const again = await talosmith(["gen", "secrets"]);
    expect(again.exitCode).toBe(1);
    expect(again.stderr).toContain('file "secrets.yaml" already exists, use --force to overwrite');
    expect(here("secrets.yaml")).toBe(before);
  });

  test("takes the bundle back out of a control plane's config", async () => {
    const config = join(golden, "config/1.13/current/default/controlplane.yaml");
    const { stdout } = await talosmith(["gen", "secrets", "--from-controlplane-config", config, "-o", "-"]);
    expect(stdout).toBe(readFileSync(secretsFile, "utf8"));
  });

  test("encrypts with age, and gen config opens it again", async () => {
    const identity = await generateX25519Identity();
    const recipient = await identityToRecipient(identity);
    const made = await talosmith(["gen", "secrets", "--age-recipient", recipient, "-o", "secrets.age"]);
    expect(made.exitCode).toBe(0);
    expect(here("secrets.age")).toMatch(/^-----BEGIN AGE/);
    const args = ["gen", "config", "demo", endpoint, "--with-secrets", "secrets.age", "-t", "worker"];
    expect((await talosmith(args)).stderr).toContain("no age identity");
    expect((await talosmith(args, { SOPS_AGE_KEY: identity })).exitCode).toBe(0);
    expect(existsSync(join(cwd, "worker.yaml"))).toBe(true);
  });
});

test("gen talosconfig is for a role and a lifetime", async () => {
  const args = [
    "gen",
    "talosconfig",
    "demo",
    "--with-secrets",
    secretsFile,
    "--roles",
    "os:reader",
    "--crt-ttl",
    "2h",
    "-e",
    "10.5.0.2,10.5.0.3",
  ];
  const { stdout } = await talosmith([...args, "--json"]);
  expect(JSON.parse(stdout)).toEqual({ file: "talosconfig", context: "demo", expires: "2026-11-16T14:00:00.000Z" });
  expect(parseTalosconfig(here("talosconfig"), "t").contexts.get("demo")?.endpoints).toEqual(["10.5.0.2", "10.5.0.3"]);
  expect((await talosmith([...args, "--force", "--roles", "os:king"])).stderr).toContain('"os:king" is not a role');
  expect((await talosmith([...args, "--force", "--crt-ttl", "soon"])).stderr).toContain("expected a positive duration");
});

describe.each([
  ["config", "patch"],
  ["machineconfig", "patch"],
  ["mc", "patch"],
])("%s %s", (group, verb) => {
  test("prints the patched config, or writes it", async () => {
    const input = join(golden, "inputs/mini.yaml");
    const patch = `@${join(golden, "patch/list-append/patch.yaml")}`;
    const expected = goldenText("patch/list-append/expected.yaml");
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
    const text = await run("no-install", "-m", "metal");
    expect(text.stderr).toContain('* install instructions are required in "metal" mode');
    expect(text.exitCode).toBe(1);
    const json = await run("no-install", "-m", "metal", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({ valid: false, mode: "metal" });
    expect(json.exitCode).toBe(1);
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
    writeFileSync(join(cwd, "bad.yaml"), text);
    for (const args of [
      ["config", "validate", "-c", "bad.yaml", "-m", "metal"],
      ["config", "patch", "bad.yaml", "-p", '{"machine":{"token":"x"}}', "-o", "out.yaml"],
      ["config", "redact", "bad.yaml"],
    ]) {
      const { exitCode, stderr, stdout } = await talosmith(args);
      expect(stderr).toMatch(message);
      expect([exitCode, stdout]).toEqual([1, ""]);
    }
    expect(readdirSync(cwd)).toEqual(["bad.yaml"]);
  });
});

test("a config that was pasted below another shows none of its secrets in the error", async () => {
  const config = goldenText("config/1.13/current/default/controlplane.yaml");
  writeFileSync(join(cwd, "twice.yaml"), config + config);
  const { stderr } = await talosmith(["config", "validate", "-c", "twice.yaml", "-m", "metal"]);
  expect(stderr).toContain("unknown keys found during decoding");
  const values = [...config.matchAll(/^ +(?:key|token|secret|secretboxEncryptionSecret): (\S+)$/gm)].map(([, v]) => v);
  expect(values.length).toBeGreaterThan(5);
  for (const value of values) expect(stderr).not.toContain(value);
});

test("a file that is not UTF-8 is refused rather than changed", async () => {
  writeFileSync(join(cwd, "latin.yaml"), Buffer.from("machine: {sysctls: {a: \xe9}}\n", "latin1"));
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

describe("image", () => {
  const guestAgent = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515";
  test.each([
    [["schematic", "--extension", "siderolabs/qemu-guest-agent"], guestAgent],
    [["schematic", "file.yaml"], guestAgent],
    [["installer", "--schematic", "file.yaml"], `factory.talos.dev/metal-installer/${guestAgent}:v1.13.9`],
    [
      ["installer", "--platform", "aws", "--schematic-id", guestAgent, "--talos-version", "1.12.11"],
      `factory.talos.dev/aws-installer/${guestAgent}:v1.12.11`,
    ],
    [
      ["url", "iso", "--schematic-id", guestAgent, "--arch", "arm64"],
      `https://factory.talos.dev/image/${guestAgent}/v1.13.9/metal-arm64.iso`,
    ],
  ])("%j", async (args, expected) => {
    writeFileSync(
      join(cwd, "file.yaml"),
      "customization: {systemExtensions: {officialExtensions: [siderolabs/qemu-guest-agent]}}",
    );
    const { stdout, exitCode } = await talosmith(["image", ...args]);
    expect([stdout, exitCode]).toEqual([`${expected}\n`, 0]);
  });

  test("default lists the images of a cluster under talosctl's names", async () => {
    const { stdout } = await talosmith(["image", "default"]);
    expect(stdout.split("\n")).toContain("registry.k8s.io/kube-apiserver:v1.36.3");
    expect((await talosmith(["images", "k8s-bundle", "--k8s-version", "v1.35.0"])).stdout).toContain(
      "kubelet:v1.35.0\n",
    );
  });

  test("fetch says when the factory cannot be reached", async () => {
    const { stderr, exitCode } = await talosmith([
      "image",
      "fetch",
      "iso",
      "--factory-url",
      "http://127.0.0.1:1",
      "--cache-dir",
      "c",
    ]);
    expect(stderr).toContain("cannot be reached");
    expect(exitCode).toBe(1);
    expect(readdirSync(cwd)).toEqual([]);
  });
});
