// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { describe, expect, test } from "vitest";
import { parseTalosconfig } from "../../talos/config/index.ts";
import { secretsStore } from "../../talos/secrets/index.ts";
import { officialState } from "../support/foreign-cluster.ts";
import { golden, goldenText, offlineCommands } from "./offline-commands.ts";

const { folder, here, talosmith } = offlineCommands();
const secretsFile = join(golden, "secrets/secrets-v1.13.yaml");
const endpoint = "https://10.5.0.10:6443";
const genConfig = ["gen", "config", "golden", endpoint, "--with-secrets", secretsFile];

describe("gen config", () => {
  test("writes the files of talosctl, private, and says so on stderr", async () => {
    const { stdout, stderr, exitCode } = await talosmith([...genConfig, "--with-docs=false", "--with-examples=false"]);
    expect([stdout, exitCode]).toEqual(["", 0]);
    expect(stderr).toBe("Created controlplane.yaml\nCreated worker.yaml\nCreated talosconfig\n");
    expect(here("controlplane.yaml")).toBe(goldenText("config/1.13/current/default/controlplane.yaml"));
    expect(here("worker.yaml")).toBe(goldenText("config/1.13/current/default/worker.yaml"));
    for (const file of readdirSync(folder.path)) expect(statSync(join(folder.path, file)).mode & 0o777).toBe(0o600);
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
    symlinkSync(join(golden, "config"), join(folder.path, "config"));
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
    writeFileSync(join(folder.path, "worker.yaml"), "precious");
    const refused = await talosmith(genConfig);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain('worker.yaml" already exists, use --force to overwrite');
    expect(readdirSync(folder.path)).toEqual(["worker.yaml"]);
    expect(here("worker.yaml")).toBe("precious");
    expect((await talosmith([...genConfig, "--force", "--json"])).stdout).toBe(
      '{"files":[{"type":"controlplane","path":"controlplane.yaml"},{"type":"worker","path":"worker.yaml"},{"type":"talosconfig","path":"talosconfig"}]}\n',
    );
    expect(here("worker.yaml")).toContain("type: worker");
  });

  test("makes the documents of 1.14 with that release's own versions", async () => {
    await talosmith([...genConfig, "--talos-version", "v1.14", "--output-dir", "new"]);
    expect(here("new/controlplane.yaml")).toContain("ghcr.io/siderolabs/kubelet:v1.37.0");
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
    [[...genConfig, "--kubernetes-version", "1.36"], 1, '"1.36" is not an exact Kubernetes version\n  Write "1.36.3"'],
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
    expect(readdirSync(folder.path)).toEqual([]);
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
    writeFileSync(join(folder.path, "p.yaml"), "machine:\n  bogus: 1\n");
    const { stderr } = await talosmith([...genConfig, "--config-patch-worker", "@p.yaml"]);
    expect(stderr).toContain("p.yaml:2:3: machine.bogus is not a known field");
  });

  test("tells what the file system refuses, as the user's trouble and not ours", async () => {
    writeFileSync(join(folder.path, "file"), "old");
    mkdirSync(join(folder.path, "folder"));
    const advice = "  A file stands where a folder is needed: move it away.\n";
    const blocked = await talosmith([...genConfig, "-o", "file"]);
    expect(blocked.stderr).toBe(
      `Error: write ${join(folder.path, "file/controlplane.yaml")}: not a directory\n${advice}`,
    );
    const taken = await talosmith([...genConfig, "-t", "worker", "-o", "folder", "--force"]);
    expect(taken.stderr).toMatch(/^Error: write \S+folder: .*directory.*\n$/);
    const below = await talosmith(["gen", "secrets", "-o", "file/secrets.yaml"]);
    expect(below.stderr).toBe(`Error: write ${join(folder.path, "file/secrets.yaml")}: not a directory\n${advice}`);
    const read = await talosmith(["config", "validate", "-c", "folder", "-m", "metal"]);
    expect(read.stderr).toMatch(/^Error: open folder: .*directory.*\n$/);
    expect([blocked, taken, below, read].map(({ exitCode }) => exitCode)).toEqual([1, 1, 1, 1]);
    expect(readdirSync(folder.path)).toEqual(["file", "folder"]);
  });
});

describe("gen secrets", () => {
  test("refuses a bootstrap token that no kubelet would take, without repeating it", async () => {
    const { stderr, exitCode } = await talosmith(["gen", "secrets", "-t", "hunter2"]);
    expect(stderr).toContain("the bootstrap token has the wrong form");
    expect(stderr).not.toContain("hunter2");
    expect([exitCode, readdirSync(folder.path)]).toEqual([1, []]);
  });

  test("writes a private bundle once, and never over an existing one", async () => {
    const { stdout, exitCode } = await talosmith(["gen", "secrets", "--json"]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ file: "secrets.yaml", caFingerprint: expect.stringMatching(/^.{43}=$/) });
    expect(statSync(join(folder.path, "secrets.yaml")).mode & 0o777).toBe(0o600);
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

  test("takes the bundle of a cluster of the official provider from its state", async () => {
    const bundle = await secretsStore({ kind: "file", path: secretsFile }).read();
    writeFileSync(join(folder.path, "state.json"), JSON.stringify(officialState(bundle, ["10.0.0.70"])));
    const { stdout } = await talosmith(["gen", "secrets", "--from-terraform-state", "state.json", "-o", "-"]);
    expect(stdout).toBe(readFileSync(secretsFile, "utf8"));
    const both = ["--from-terraform-state", "state.json", "--from-controlplane-config", "x.yaml"];
    expect((await talosmith(["gen", "secrets", ...both])).stderr).toContain("cannot be used together");
    writeFileSync(join(folder.path, "state.json"), JSON.stringify({ version: 4, resources: [] }));
    const none = await talosmith(["gen", "secrets", "--from-terraform-state", "state.json", "-o", "-"]);
    expect(none).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("found no talos_machine_secrets") });
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
    expect(existsSync(join(folder.path, "worker.yaml"))).toBe(true);
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
