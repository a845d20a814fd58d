// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadEnvironment } from "../../model/index.ts";
import { firstReads } from "../../workspace/environment-file.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import { testContext } from "../support/command-context.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-workspace-"));
const text = `
infrastructure: { kind: metal, trustOnFirstUse: true, machines: { cp-1: { address: 192.0.2.1, role: controlplane } } }
rollout: { maxUnavailable: 2 }
`;
mkdirSync(join(root, "environments"));
writeFileSync(join(root, "cdktf.json"), "{}");
writeFileSync(join(root, "environments/lab.yaml"), text);
afterAll(() => rmSync(root, { recursive: true, force: true }));

const open = (signal?: AbortSignal) =>
  openWorkspace("lab", testContext({ cwd: root, env: {}, ...(signal === undefined ? {} : { signal }) }));

test("a workspace whose secrets are lost says so, and goes on once they are there", async () => {
  const workspace = open();
  await expect(workspace.deployed()).rejects.toMatchObject({ code: "not-found" });
  expect(await workspace.secrets.find()).toBeUndefined();
  const secrets = await workspace.secrets.ensure();
  expect((await workspace.deployed()).secrets).toEqual(secrets);
});

test("what was opened stays the same, also for work that another signal stops; a new workspace reads again", async () => {
  const workspace = open();
  const deployed = await workspace.deployed();
  rmSync(workspace.secrets.file);
  const { signal } = new AbortController();
  const same = workspace.until(signal);
  expect([await workspace.deployed(), await same.deployed()]).toEqual([deployed, deployed]);
  expect(await workspace.secrets.find()).toBe(deployed.secrets);
  expect(await workspace.secrets.readAgain()).toBeUndefined();
  expect((await same.engineOptions()).signal).toBe(signal);
  await expect(open().deployed()).rejects.toMatchObject({ code: "not-found" });
});

test("the engine gets the policy of the file, and of the file as it would be", async () => {
  const workspace = open();
  await workspace.secrets.ensure();
  const { policy } = await workspace.engineOptions();
  expect(policy).toMatchObject({ maxUnavailable: 2, healthLevel: "full", stuckPods: "fail" });
  const edited = text.replace("maxUnavailable: 2", "maxUnavailable: 3");
  const texts = new Map([["environments/lab.yaml", edited]]);
  const next = workspace.edited({ environment: loadEnvironment(root, "lab", texts), texts, before: firstReads(root) });
  expect((await next.engineOptions()).policy).toMatchObject({ maxUnavailable: 3, healthLevel: "full" });
});

test("a run without Kubernetes reads so in the files, together with an edit, and saves the edit alone", async () => {
  const file = "environments/lab.yaml";
  const edited = text.replace("maxUnavailable: 2", "maxUnavailable: 3");
  const texts = new Map([[file, edited]]);
  const run = open()
    .edited({ environment: loadEnvironment(root, "lab", texts), texts, before: firstReads(root) })
    .withoutKubernetes();
  expect(run.policy).toMatchObject({ maxUnavailable: 3, healthLevel: "talos" });
  expect(loadEnvironment(root, "lab", run.unsaved).rollout).toEqual(run.policy);
  try {
    await run.save();
    expect(readFileSync(join(root, file), "utf8")).toBe(edited);
    expect(run.lasting.unsaved.size).toBe(0);
    expect(run.lasting.policy).toMatchObject({ maxUnavailable: 3, healthLevel: "full" });
  } finally {
    writeFileSync(join(root, file), text);
  }
});

test.each([
  ["without Terraform", undefined, true],
  ["by Terraform", '{"version":4,"resources":[{"mode":"managed","type":"x","name":"y","instances":[{}]}]}', false],
])("a restore of metal that was deployed %s records its machines: %s", async (_, state, recorded) => {
  const workspace = open();
  const file = join(root, "state/lab.tfstate");
  mkdirSync(join(root, "state"), { recursive: true });
  if (state !== undefined) writeFileSync(file, state);
  try {
    const { machines } = await workspace.desiredAgain(await workspace.secrets.ensure());
    expect(machines.map(({ name }) => name)).toEqual(["cp-1"]);
    expect(existsSync(join(root, "state/lab.machines.json"))).toBe(recorded);
  } finally {
    rmSync(join(root, "state"), { recursive: true });
  }
});
