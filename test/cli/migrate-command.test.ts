// SPDX-License-Identifier: Apache-2.0
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { registerConfig } from "../../cli/commands/config.ts";
import { registerStatus } from "../../cli/commands/inspect.ts";
import { registerPlan, registerUp } from "../../cli/commands/lifecycle.ts";
import { registerSim } from "../../cli/commands/sim.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { systemClock } from "../../talos/clock.ts";
import { newDefaults } from "../../talos/config/migrate/index.ts";
import { testContext } from "../support/command-context.ts";

const registrations = [registerConfig, registerUp, registerPlan, registerStatus, registerSim];

/** One simulated machine of Talos 1.14 whose config is still of contract 1.13, as a user would move it. */
describe("config migrate", () => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-migrate-"));
  const file = join(root, "environments/tiny.yaml");
  const text = [
    "# ours",
    "cluster:",
    "  talosVersion: v1.14.1",
    "  kubernetesVersion: 1.36.3",
    "  configContract: v1.13 # for now",
    "  patches:",
    "    all:",
    "      # louder",
    '      - machine: { kubelet: { extraArgs: { v: "2" } }, nodeLabels: { a: b } }',
    "infrastructure: { kind: simulated }",
    "controlPlane: { count: 1 }",
    "",
  ].join("\n");

  async function talosmith(...args: string[]) {
    const context = testContext({ cwd: root, env: { PATH: "/nowhere" }, clock: systemClock });
    await runProgram(createProgram(context, registrations), args, context);
    return context.written;
  }

  beforeAll(async () => {
    vi.stubEnv("TALOSMITH_SIMULATOR_TIME_SCALE", "0.2");
    mkdirSync(join(root, "environments"));
    writeFileSync(join(root, "cdktf.json"), "{}");
    writeFileSync(file, text);
    chmodSync(file, 0o640);
    expect((await talosmith("up", "tiny")).exitCode).toBe(0);
  });

  afterAll(async () => {
    await talosmith("sim", "down", "--all");
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true, force: true });
  });

  test("a dry run shows the diff and the new defaults, and changes nothing", async () => {
    const asked = await talosmith("config", "migrate", "tiny", "--to", "v1.14");
    expect(asked.stderr).toContain("Add --yes to go ahead without asking.");
    expect(asked.stderr).not.toContain("Rehearsed");
    expect([asked.exitCode, readFileSync(file, "utf8")]).toEqual([1, text]);
    const { stdout, stderr, exitCode } = await talosmith("config", "migrate", "tiny", "--to", "v1.14", "--dry-run");
    expect(stdout).toMatch(/^--- a\/environments\/tiny\.yaml\n\+\+\+ b\/environments\/tiny\.yaml\n@@/);
    expect(stdout).toContain("-  configContract: v1.13 # for now\n+  configContract: v1.14 # for now\n");
    expect(stderr).toContain("environments/tiny.yaml:9 machine.kubelet.extraArgs → KubeletConfig.extraArgs");
    expect(stderr).toContain("workload-isolation (kept off; on with --enable workload-isolation): containerd");
    expect(stderr).toContain("Nothing was changed.");
    expect([exitCode, readFileSync(file, "utf8")]).toEqual([0, text]);
  });

  test("its help lists the new defaults", async () => {
    const { stdout } = await talosmith("config", "migrate", "--help");
    for (const { id } of newDefaults) expect(stdout.replace(/\s+/g, " ")).toContain(id);
    for (const { id } of newDefaults) expect(readFileSync("docs/contract.md", "utf8")).toContain(`\`${id}\``);
  });

  test.each([
    [["--to", "v1.12"], "there is no way back to v1.12"],
    [["--to", "v1.14", "--enable", "isolation"], "Name one of: kernel-args-from-image"],
  ])("%j is refused", async (flags, reason) => {
    const { stderr, exitCode } = await talosmith("config", "migrate", "tiny", ...flags);
    expect(stderr).toContain(reason);
    expect([exitCode, readFileSync(file, "utf8")]).toEqual([1, text]);
  });

  test.each(["v1.12", "v1.14"])(
    "a change of the contract to %s by hand is refused, with its line",
    async (contract) => {
      writeFileSync(file, text.replace("configContract: v1.13", `configContract: ${contract}`));
      const { stderr, exitCode } = await talosmith("plan", "tiny");
      writeFileSync(file, text);
      expect(stderr).toContain("environments/tiny.yaml:5:19: cluster.configContract");
      expect(stderr).toContain(`found ${contract}\n  expected v1.13, which the running cluster has`);
      expect(exitCode).toBe(1);
    },
  );

  test("what the contract would refuse keeps it from being changed", async () => {
    const mounts = text
      .replace("nodeLabels: { a: b }", "files: []")
      .replace(
        'extraArgs: { v: "2" }',
        'extraArgs: { v: "2" }, extraMounts: [{ destination: /a, source: /a, type: bind }]',
      );
    writeFileSync(file, mounts);
    const { stderr, stdout, exitCode } = await talosmith(
      "config",
      "migrate",
      "tiny",
      "--to",
      "v1.14",
      "--yes",
      "--json",
    );
    expect(stderr).toContain("tiny stays at contract v1.13, and nothing was changed. With v1.14:");
    expect(stderr).toContain("kubelet config is already set in v1alpha1 config");
    expect(JSON.parse(stdout)).toMatchObject({
      changed: false,
      left: [{ file: "environments/tiny.yaml", line: 9, path: "machine.kubelet.extraMounts" }],
    });
    expect([exitCode, readFileSync(file, "utf8")]).toEqual([1, mounts]);
    writeFileSync(file, text);
  });

  test("the file is changed after a rehearsal, the machine without a reboot, and a second run finds nothing", async () => {
    const { stdout, stderr, exitCode } = await talosmith(
      "config",
      "migrate",
      "tiny",
      "--to",
      "v1.14",
      "--yes",
      "--json",
    );
    expect(stderr).toContain("cluster.previousContract: v1.13 lets the running cluster move on");
    expect(stderr).toContain("Rehearsed with 1 simulated machine: all accept their config, none reboots.");
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout.slice(stdout.lastIndexOf('{\n  "v"')))).toMatchObject({
      changed: true,
      rehearsal: { machines: ["tiny-cp-1"], rebooted: [] },
    });
    const written = readFileSync(file, "utf8");
    expect(written).toContain("  configContract: v1.14 # for now\n  previousContract: v1.13\n");
    expect(written).toContain(
      '      # louder\n      - apiVersion: v1alpha1\n        kind: KubeletConfig\n        extraArgs: { v: "2" }\n',
    );
    expect(statSync(file).mode & 0o777).toBe(0o640);

    const planned = await talosmith("plan", "tiny");
    expect(planned.stdout).toContain("without a reboot");
    expect(planned.stdout).not.toMatch(/upgrade|drain/);
    expect(planned.stderr).toContain("tiny-cp-1: the new config is written for contract v1.14 and means the same.");
    const deployed = await talosmith("up", "tiny");
    expect([deployed.exitCode, deployed.stderr]).toEqual([
      0,
      expect.stringContaining("Removed previousContract from environments/tiny.yaml: the migration is deployed."),
    ]);
    const cleared = written.replace("  previousContract: v1.13\n", "");
    expect(readFileSync(file, "utf8")).toBe(cleared);
    const status = JSON.parse((await talosmith("status", "tiny", "--json")).stdout);
    expect(status).toMatchObject({ pending: [], machines: [{ talos: "v1.14.1" }] });

    const again = await talosmith("config", "migrate", "tiny", "--to", "v1.14", "--yes");
    expect(again.stderr).toContain("tiny has the config contract v1.14 already. Nothing was changed.");
    expect([again.exitCode, readFileSync(file, "utf8")]).toEqual([0, cleared]);
    writeFileSync(file, written);
    const later = await talosmith("config", "migrate", "tiny", "--to", "v1.14", "--yes");
    expect(later.stderr).toContain("already. Removed previousContract from environments/tiny.yaml");
    expect(readFileSync(file, "utf8")).toBe(cleared);
  });
});
