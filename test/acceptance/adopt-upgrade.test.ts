// SPDX-License-Identifier: Apache-2.0
// A cluster that talosctl made and upgraded, with v1alpha1 patches: adopted, taken into a Terraform state, and upgraded
// through the real terraform or tofu. Only version and installer change.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DesiredCluster } from "../../engine/index.ts";
import { systemClock, systemEntropy } from "../../talos/clock.ts";
import { configChange } from "../../talos/config/index.ts";
import { encodeSecrets, generateThrowawaySecrets } from "../../talos/secrets/index.ts";
import { Contract } from "../../talos/version/index.ts";
import { type SimulatedLab, simulatedLab } from "../engine/simulated-cluster.ts";
import { makeProject, removeProject, talosmith } from "../hostile/project.ts";
import { everything } from "../support/everything.ts";
import { cleanEnvironment, findTools } from "../support/terraform.ts";

const machines = ["cp-1", "w-1"];
const file = "environments/taken.yaml";
const [installed, talos, next] = ["v1.12.11", "v1.13.9", "v1.14.1"];
const password = "hunter2-registry";
const patches = {
  all: [
    "machine: { kubelet: { extraArgs: { v: '2' } }, sysctls: { net.core.somaxconn: '65535' } }",
    `machine: { registries: { config: { registry.example.com: { auth: { username: pull, password: ${password} } } } } }`,
  ],
  worker: ["machine: { nodeLabels: { tier: web } }"],
};

const [tool] = findTools();

describe.skipIf(!everything || tool === undefined)("a cluster of others, through Terraform", () => {
  let root: string;
  let lab: SimulatedLab;
  let desired: DesiredCluster;
  const run = (...words: readonly string[]) =>
    talosmith(words, { cwd: root, env: cleanEnvironment({ TERRAFORM_BINARY_NAME: tool?.path ?? "" }) });
  const succeed = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await run(...words);
    expect([code, stdout, stderr]).toEqual([0, expect.anything(), expect.anything()]);
    return stdout + stderr;
  };
  const statesNow = async () =>
    [...(await lab.observe(desired)).machines.values()].map(({ state }) =>
      state.kind === "configured" ? state : undefined,
    );

  beforeAll(async () => {
    const contract = Contract.parse("v1.12");
    const secrets = await generateThrowawaySecrets({ contract, clock: systemClock, entropy: systemEntropy });
    root = makeProject({ "theirs.yaml": encodeSecrets(secrets) });
    lab = await simulatedLab("theirs", secrets);
    for (const name of machines) await lab.create(name, talos);
    const cluster = { talos, contract: contract.toString(), patches };
    await lab.apply(await lab.desired(machines, cluster));
    // As talosctl leaves it: upgraded, with the older installer in the config.
    desired = await lab.desired(machines, { ...cluster, installImage: `ghcr.io/siderolabs/installer:${installed}` });
    await lab.apply(desired);
  });
  afterAll(async () => {
    await lab.end();
    removeProject(root);
  });

  test("is adopted and taken into a state without a change", async () => {
    const before = await statesNow();
    await succeed("adopt", "taken", "--secrets", "theirs.yaml", "--nodes", desired.machines[0]?.address ?? "");
    expect(readFileSync(join(root, file), "utf8")).toContain("configContract: v1.12");
    await succeed("deploy", "taken", "--yes");
    const after = await statesNow();
    expect(after.map((state) => state?.config?.text)).toEqual(before.map((state) => state?.config?.text));
    expect((await run("plan", "taken")).code).toBe(0);
    expect(readFileSync(join(root, "state/taken.tfstate"), "utf8")).not.toContain(password);
  });

  test("refuses a version by hand beside the older installer, at plan", async () => {
    const text = readFileSync(join(root, file), "utf8");
    writeFileSync(join(root, file), text.replace(`talosVersion: ${talos}`, `talosVersion: ${next}`));
    const { code, stdout, stderr } = await run("plan", "taken");
    writeFileSync(join(root, file), text);
    expect(code).toBe(1);
    expect((stdout + stderr).replace(/\s+/g, " ")).toContain(
      `the Talos version is ${next}, but its installer image is ghcr.io/siderolabs/installer:${installed}`,
    );
  });

  test(`is upgraded to ${next}: nothing changes but version and installer`, async () => {
    const before = await statesNow();
    await succeed("upgrade", "talos", "taken", "--to", next, "--write-only");
    const { code, stdout, stderr } = await run("plan", "taken");
    expect([code, stderr]).toEqual([2, expect.anything()]);
    expect(stdout).toContain(`upgrade Talos on w-1 from ${talos} to ${next}`);
    expect((stdout + stderr).replace(/[\s│]+/g, " ")).toContain(
      "no longer does this by itself: /var is mounted with nosuid and nodev.",
    );
    await succeed("deploy", "taken", "--yes");
    const after = await statesNow();
    expect(after.map((state) => state?.talosVersion)).toEqual([next, next]);
    const places = after.map((state, index) => {
      const [old, now] = [before[index]?.config, state?.config];
      return old && now && configChange(old, now)?.places.map(({ title }) => title);
    });
    expect(places).toEqual([["machine.install.image"], ["machine.install.image"]]);
    expect((await run("plan", "taken")).code).toBe(0);
  });
});
