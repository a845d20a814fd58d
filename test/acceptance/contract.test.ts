// SPDX-License-Identifier: Apache-2.0
// From Talos 1.13 to 1.14 with v1alpha1 patches, by the real command, with and without Terraform: only the version
// changes; then the same configs in the form of contract 1.14.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeProject, removeProject, talosmith } from "../hostile/project.ts";
import { everything } from "../support/everything.ts";
import { cleanEnvironment, findTools } from "../support/terraform.ts";

const file = "environments/lab.yaml";
const written = `cluster:
  talosVersion: v1.13.9
  kubernetesVersion: 1.36.3
  patches:
    all:
      - machine:
          kubelet:
            extraArgs: { v: "2" }
          nodeLabels: { a: b }
infrastructure: { kind: simulated }
controlPlane: { count: 1 }
workers: [{ count: 1 }]
`;

const [tool] = findTools();
const ways = [{ way: "without Terraform" }, ...(tool === undefined ? [] : [{ way: "through Terraform", tool }])];

describe.skipIf(!everything).each(ways)("a cluster of Talos 1.13 with v1alpha1 patches, $way", ({ tool: binary }) => {
  let root: string;
  const env = { TALOSMITH_SIMULATOR_TIME_SCALE: "0.2" };
  const run = (...words: readonly string[]) => {
    const cli = binary === undefined ? {} : cleanEnvironment({ TERRAFORM_BINARY_NAME: binary.path });
    return talosmith(words, { cwd: root, env: { ...cli, ...env } });
  };
  const deploy = async () => {
    const { code, stderr } = await run(binary === undefined ? "up" : "deploy", "lab", "--yes");
    expect([code, stderr]).toEqual([0, expect.anything()]);
  };
  const edit = (from: string, to: string) => {
    const path = join(root, file);
    const text = readFileSync(path, "utf8");
    expect(text).toContain(from);
    writeFileSync(path, text.replace(from, to));
  };

  beforeAll(async () => {
    root = makeProject({ [file]: written });
    await deploy();
  });
  afterAll(async () => {
    await run(binary === undefined ? "down" : "destroy", "lab", "--yes");
    removeProject(root);
  });

  test("keeps its contract when its Talos is upgraded: nothing but the version changes", async () => {
    expect(readFileSync(join(root, file), "utf8")).toContain("configContract: v1.13");
    edit("talosVersion: v1.13.9", "talosVersion: v1.14.1");
    const { code, stdout, stderr } = await run("plan", "lab");
    expect([code, stderr]).toEqual([2, expect.stringContaining("Config contract: v1.13")]);
    expect(stdout).toContain("upgrade Talos on lab-w-1 from v1.13.9 to v1.14.1");
    expect(stdout).not.toContain("SecurityProfileConfig");
    await deploy();
    expect((await run("plan", "lab")).code).toBe(0);
  });

  test("refuses another contract that nobody migrated to, at plan", async () => {
    for (const other of ["v1.14", "v1.12"]) {
      edit("configContract: v1.13", `configContract: ${other}`);
      const { code, stderr } = await run("plan", "lab");
      edit(`configContract: ${other}`, "configContract: v1.13");
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/environments\/lab\.yaml:\d+:\d+: cluster\.configContract/),
      ]);
    }
  });

  test("names the lines of patches that the machines would refuse, at plan", async () => {
    const migrated = "configContract: v1.14\n  previousContract: v1.13";
    edit("configContract: v1.13", migrated);
    const { code, stderr } = await run("plan", "lab");
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /machine\.kubelet \(environments\/lab\.yaml:\d+\) and KubeletConfig: kubelet config is already set/,
    );
    edit(migrated, "configContract: v1.13");
  });

  test("moves to contract 1.14 by a migration, and means the same", async () => {
    const migrated = await run("config", "migrate", "lab", "--to", "v1.14", "--yes");
    expect([migrated.code, migrated.stderr]).toEqual([0, expect.anything()]);
    expect(readFileSync(join(root, file), "utf8")).toMatch(/kind: KubeletConfig/);
    const { code, stdout, stderr } = await run("plan", "lab");
    expect(code).toBe(2);
    expect(stdout).not.toMatch(/upgrade Talos|reboots\)/);
    // What means the same is shown as that, and as no change of its own.
    expect(stdout).not.toMatch(/SecurityProfileConfig: added|machine\.kubelet: .*none/);
    expect(stdout + stderr).toMatch(
      /no effect, contract v1\.14 means the same|written for contract v1\.14 and means the same/,
    );
    await deploy();
    expect((await run("plan", "lab")).code).toBe(0);
    expect((await run("config", "migrate", "lab", "--to", "v1.14", "--yes")).code).toBe(0);
    expect(readFileSync(join(root, file), "utf8")).not.toContain("previousContract");
    // Of the machines nothing changes: Terraform has the setting in its state.
    expect((await run("plan", "lab")).stdout).not.toContain("change the config");
    await deploy();
    expect((await run("plan", "lab")).code).toBe(0);
  });
});
