// SPDX-License-Identifier: Apache-2.0
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { registerStatus } from "../../cli/commands/inspect.ts";
import { registerPlan, registerUp, registerUpgrade } from "../../cli/commands/lifecycle.ts";
import { registerClientFiles } from "../../cli/commands/project.ts";
import { registerSim } from "../../cli/commands/sim.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { systemClock } from "../../talos/clock.ts";
import { testContext } from "../support/command-context.ts";

const registrations = [registerUp, registerPlan, registerUpgrade, registerStatus, registerClientFiles, registerSim];

/** Upgrades of one simulated machine, as a user would type them. */
describe("the commands that upgrade", () => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-upgrade-"));
  const own = join(root, "environments/tiny.yaml");
  const base = join(root, "environments/base.yaml");
  let clock = systemClock;
  let path = "/nowhere";

  async function talosmith(...args: string[]) {
    const context = testContext({ cwd: root, env: { PATH: path }, clock });
    await runProgram(createProgram(context, registrations), args, context);
    return context.written;
  }
  const status = async () => JSON.parse((await talosmith("status", "tiny", "--json")).stdout);

  beforeAll(async () => {
    vi.stubEnv("TALOSMITH_SIMULATOR_TIME_SCALE", "0.2");
    mkdirSync(join(root, "environments"));
    writeFileSync(join(root, "cdktf.json"), "{}");
    writeFileSync(base, "cluster: { talosVersion: v1.12.11 } # for all\n");
    const text =
      "# ours\ncluster:\n  kubernetesVersion: 1.35.1 # held\ninfrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\n";
    writeFileSync(own, text);
    writeFileSync(join(root, "environments/other.yaml"), text);
    chmodSync(base, 0o640);
    expect((await talosmith("up", "tiny")).exitCode).toBe(0);
  });

  afterAll(async () => {
    await talosmith("sim", "down", "--all");
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true, force: true });
  });

  test("without talos or k8s, the versions there are and the commands for them are shown, and nothing is changed", async () => {
    const { stdout, stderr, exitCode } = await talosmith("upgrade", "tiny");
    const lines = stdout.split("\n").map((line) => line.split(/ {2,}/));
    expect(lines[0]).toEqual(["PRODUCT", "VERSION", "UPGRADES"]);
    const [talos, kubernetes] = [lines[1]?.[2]?.split(", ") ?? [], lines[2]?.[2]?.split(", ") ?? []];
    expect(lines.slice(1, 3)).toEqual([
      ["Talos", "v1.12.11", talos.join(", ")],
      ["Kubernetes", "1.35.1", kubernetes.join(", ")],
    ]);
    expect(talos).toContain("v1.13.9");
    // None that is older, and none that this Talos does not run.
    expect([...talos, ...kubernetes].filter((version) => /^v?1\.(1[0-1]|3[0-4]|3[67])\./.test(version))).toEqual([]);
    const commands = [
      ...talos.map((version) => `talosmith upgrade talos tiny --to ${version}`),
      ...kubernetes.map((version) => `talosmith upgrade k8s tiny --to ${version}`),
    ];
    expect(stderr.trimEnd().split("\n")).toEqual([
      "Checking the upgrades of tiny.",
      "These are the versions that talosmith knows; a newer patch version can be given exactly.",
      ...commands,
    ]);
    expect(exitCode).toBe(0);
    const approved = await talosmith("upgrade", "tiny", "--yes");
    expect(approved.stderr).toContain(`error: --yes needs a version\nChoose one:\n${commands.join("\n")}\n`);
    expect(approved.exitCode).toBe(64);
    const { stdout: json, stderr: silent } = await talosmith("upgrade", "tiny", "--json");
    expect(silent).toBe("");
    expect(JSON.parse(json)).toEqual({
      v: 1,
      environment: "tiny",
      products: [
        { product: "Talos", version: "v1.12.11", upgrades: talos },
        { product: "Kubernetes", version: "1.35.1", upgrades: kubernetes },
      ],
      unfinished: [],
    });
    expect(readFileSync(base, "utf8")).toContain("v1.12.11");
  });

  test.each([
    ["no version", ["upgrade", "talos", "tiny"], 64, "error: required option"],
    [
      "none that there is",
      ["upgrade", "k8s", "tiny", "--to", "1.58"],
      1,
      "Error: no release of Kubernetes 1.58 is known",
    ],
    ["none of Talos", ["upgrade", "talos", "tiny", "--to", "1.99"], 1, "Error: no release of Talos 1.99 is known\n"],
    ["a word", ["upgrade", "talos", "tiny", "--to", "new"], 1, 'Error: "new" is not an exact Talos version\n'],
  ])("with %s, the versions there are are named", async (_, words, code, message) => {
    const { stderr, exitCode } = await talosmith(...words);
    expect(stderr).toContain(message);
    expect(stderr).toMatch(
      /Versions that tiny can be upgraded to: .*\d\. A minor version, such as 1\.\d+, and latest mean the newest of these\. .* can be given exactly\.\n/,
    );
    expect(exitCode).toBe(code);
  });

  test("an upgrade that has not reached all machines is named with the command that continues it", async () => {
    const before = readFileSync(base, "utf8");
    await talosmith("upgrade", "talos", "tiny", "--to", "v1.13.9", "--write-only");
    const { stdout, stderr, exitCode } = await talosmith("upgrade", "tiny");
    const asJson = JSON.parse((await talosmith("upgrade", "tiny", "--json")).stdout);
    const shown = await talosmith("status", "tiny");
    writeFileSync(base, before);
    // As the plan shows them: a line for a machine, and no image that is longer than a terminal is wide.
    expect(shown.stderr).toMatch(/^Steps to do \(\d+\)\n {2}\S.*\n {4}tiny-cp-1: .*pull \S+:v1\.13\.9/m);
    expect(stdout).toMatch(/^Talos +v1\.13\.9/m);
    expect(stderr).toContain(
      "0 of 1 machines run Talos v1.13.9, the version in the file. To bring the others to it:\ntalosmith deploy tiny\n",
    );
    expect(stderr).not.toContain("--to");
    expect(exitCode).toBe(0);
    expect(asJson.unfinished).toEqual([{ product: "Talos", version: "v1.13.9", done: 0, machines: 1 }]);
  });

  test("a dry run shows the file's change, who shares it, and the steps, and changes nothing", async () => {
    const { stdout, stderr, exitCode } = await talosmith("upgrade", "talos", "tiny", "--to", "v1.13.9", "--dry-run");
    expect(stderr).toContain("environments/base.yaml: talosVersion v1.12.11 → v1.13.9");
    expect(stderr).toContain("other takes the version from environments/base.yaml as well");
    expect(stderr).toContain(
      "To upgrade tiny alone, set cluster.talosVersion: v1.13.9 in environments/tiny.yaml instead",
    );
    expect(stdout).toContain("Cluster tiny\n  Talos v1.12.11 → v1.13.9\n");
    expect(stdout).toMatch(/^ {4}tiny-cp-1: .*upgrade Talos from v1\.12\.11 to v1\.13\.9/m);
    expect(readFileSync(base, "utf8")).toContain("v1.12.11");
    expect((await status()).machines[0].talos).toBe("v1.12.11");
    expect(exitCode).toBe(0);
  });

  test("a dry run shows the steps also where the project has an app, which gets the texts that are not in the file yet", async () => {
    const repository = new URL("../../", import.meta.url).pathname;
    const app = `${process.execPath} ${repository}scripts/from-source.js main.ts`;
    writeFileSync(
      join(root, "main.ts"),
      `import { synthesizeProject } from "${repository}workspace/synthesize/index.ts";\nawait synthesizeProject(import.meta.dirname);\n`,
    );
    writeFileSync(join(root, "cdktf.json"), JSON.stringify({ app }));
    // The shell that runs the app, and no terraform.
    path = join(root, "bin");
    mkdirSync(path);
    symlinkSync("/bin/sh", join(path, "sh"));
    try {
      expect(await talosmith("plan", "tiny")).toMatchObject({ stdout: "Nothing to change.\n" });
      const { stdout } = await talosmith("upgrade", "talos", "tiny", "--to", "v1.13.9", "--dry-run");
      expect(stdout).toMatch(/^ {4}tiny-cp-1: .*upgrade Talos from v1\.12\.11 to v1\.13\.9/m);
      // A broken app does not hide the cluster.
      writeFileSync(join(root, "main.ts"), "throw new Error('half written');\n");
      const shown = await talosmith("status", "tiny");
      expect(shown.stdout).toMatch(/^tiny-cp-1 +controlplane .* running /m);
      expect(shown.stderr).toMatch(
        /^Warning: .*\n(.*\n)*? {2}The cluster is compared with environments\/tiny\.yaml alone/,
      );
      expect(shown.exitCode).toBe(0);
      expect((await talosmith("status", "other")).stderr).not.toContain("Warning");
    } finally {
      path = "/nowhere";
      writeFileSync(join(root, "cdktf.json"), "{}");
    }
  });

  test("Talos goes up: in the file that has the version, and on the machine", async () => {
    const { stdout, stderr, exitCode } = await talosmith("upgrade", "talos", "tiny", "--to", "1.13", "--yes");
    expect(stderr).toContain("environments/base.yaml: talosVersion v1.12.11 → v1.13.9");
    expect(exitCode).toBe(0);
    expect(stdout).toContain("v1.13.9");
    expect(readFileSync(base, "utf8")).toBe("cluster: { talosVersion: v1.13.9 } # for all\n");
    expect(statSync(base).mode & 0o777).toBe(0o640);
    expect(await status()).toMatchObject({ pending: [], machines: [{ talos: "v1.13.9", kubelet: "v1.35.1" }] });
  });

  test("Kubernetes goes up by the alias, and the same command again finds nothing to do", async () => {
    const words = ["upgrade-k8s", "tiny", "--to", "latest", "--yes"];
    expect((await talosmith(...words)).exitCode).toBe(0);
    expect(readFileSync(own, "utf8")).toContain("  kubernetesVersion: 1.36.3 # held\n");
    expect(await status()).toMatchObject({ pending: [], machines: [{ kubelet: "v1.36.3" }] });
    const again = await talosmith(...words);
    expect(again.stderr).toContain("has kubernetesVersion 1.36.3 already");
    expect(again.stderr).toContain("Nothing to change.");
    expect(again.exitCode).toBe(0);
  });

  test("a version that is older or too far away is refused before anything is written", async () => {
    const before = readFileSync(own, "utf8");
    const down = await talosmith("upgrade", "k8s", "tiny", "--to", "1.35.0", "--yes");
    const far = await talosmith("upgrade", "k8s", "tiny", "--to", "1.38.0", "--yes");
    expect(down.stderr).toContain("versions only go up");
    expect(far.stderr).toContain("one minor release at a time");
    expect([down.exitCode, far.exitCode, readFileSync(own, "utf8")]).toEqual([1, 1, before]);
  });

  test("what is not deployed is not upgraded", async () => {
    const { stderr, exitCode } = await talosmith("upgrade", "k8s", "other", "--to", "1.36.3", "--yes");
    expect(stderr).toMatch(/^Error: other is not deployed/);
    expect(exitCode).toBe(1);
    expect(readFileSync(join(root, "environments/other.yaml"), "utf8")).toContain("1.35.1");
  });

  test("what Terraform manages is not upgraded without Terraform, but can be written", async () => {
    mkdirSync(join(root, "state"), { recursive: true });
    writeFileSync(join(root, "state/other.tfstate"), JSON.stringify({ version: 4, serial: 1, resources: [{}] }));
    const words = ["upgrade", "k8s", "other", "--to", "1.36.3"];
    const refused = await talosmith(...words, "--yes");
    const dry = await talosmith(...words, "--dry-run");
    for (const { stderr, exitCode } of [refused, dry]) {
      // Not a word of a change of the file, which is not made.
      expect(stderr).toMatch(
        /^Error: other: it is managed by Terraform, but neither terraform nor tofu is on the PATH\n/,
      );
      expect(exitCode).toBe(1);
    }
    expect(readFileSync(join(root, "environments/other.yaml"), "utf8")).toContain("1.35.1");
    const written = await talosmith(...words, "--write-only");
    expect(written.stderr).toContain("Now: talosmith deploy other");
    expect(written.exitCode).toBe(0);
    expect(readFileSync(join(root, "environments/other.yaml"), "utf8")).toContain("kubernetesVersion: 1.36.3 # held");
  });

  test("a talosconfig for fewer roles and a shorter time", async () => {
    const limited = ["talosconfig", "tiny", "-", "--roles", "os:reader", "--crt-ttl", "24h"];
    const { stdout, exitCode } = await talosmith(...limited);
    expect(exitCode).toBe(0);
    const { X509Certificate } = await import("node:crypto");
    const crt = /crt: (\S+)/.exec(stdout)?.[1] ?? "";
    const { subject, validTo } = new X509Certificate(Buffer.from(crt, "base64"));
    expect(subject).toBe("O=os:reader");
    expect(Date.parse(validTo) - Date.now()).toBeLessThan(25 * 3_600_000);
    const lasting = await talosmith("talosconfig", "tiny", "--roles", "os:reader", "--force");
    expect(lasting.stderr).toContain("Name another path");
    expect(lasting.exitCode).toBe(1);
    expect((await talosmith("kubeconfig", "tiny", "-", "--roles", "os:reader")).exitCode).toBe(64);
  });

  test("client files are shown with their end in status and plan, and renewed by up in the 30 days before it", async () => {
    const { certificates } = await status();
    expect(certificates.map(({ name }: { name: string }) => name)).toEqual([
      "kubeconfig",
      "talosconfig",
      "talos-ca",
      "kubernetes-ca",
      "etcd-ca",
      "aggregator-ca",
    ]);
    expect((await talosmith("status", "tiny")).stderr).toMatch(/talosconfig: valid until .+Z, 36\dd left/);
    const file = join(root, "generated/tiny/talosconfig");
    const before = readFileSync(file, "utf8");
    await talosmith("up", "tiny");
    expect(readFileSync(file, "utf8")).toBe(before);
    clock = { now: () => new Date(Date.now() + 340 * 86_400_000) };
    expect((await talosmith("status", "tiny")).stderr).toContain("renewed by the next deploy");
    const planned = await talosmith("plan", "tiny");
    expect(planned.stdout).toContain("  change client files: generated/tiny/kubeconfig, generated/tiny/talosconfig\n");
    expect(planned.stderr).toMatch(
      /^Warning: generated\/tiny\/talosconfig is valid until 20\S+Z: the next deploy renews it\.$/m,
    );
    expect(planned.exitCode).toBe(2);
    expect((await talosmith("up", "tiny")).stderr).not.toContain("Nothing to change.");
    expect(readFileSync(file, "utf8")).not.toBe(before);
    clock = systemClock;
  });
});
