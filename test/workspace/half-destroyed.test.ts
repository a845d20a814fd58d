// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openConsoleProject } from "../../web/server/project.ts";
import { projectSimulator } from "../../workspace/simulator.ts";
import { testContext } from "../support/command-context.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-half-"));
const simulator = projectSimulator(root);
const machine = (name: string) => simulator.createMachine({ name, cluster: "tiny" });

beforeAll(() => {
  mkdirSync(join(root, "environments"));
  writeFileSync(join(root, "cdktf.json"), "{}");
  const text = "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers: [{ count: 1 }]\n";
  writeFileSync(join(root, "environments/tiny.yaml"), text);
});
afterAll(async () => {
  for (const { id } of await simulator.listMachines()) await simulator.deleteMachine(id);
  rmSync(root, { recursive: true, force: true });
});

test("the page takes away what a destroy has left that was stopped among the machines", async () => {
  const context = testContext({ cwd: root });
  const project = openConsoleProject(root, context);
  const environment = project.load("tiny");
  await machine("tiny-w-1");
  const plan = () => project.plan(environment, { kind: "destroy" }, context.signal);
  const steps = [{ id: "1", sentence: "destroy machine: tiny-w-1", destructive: true }];
  expect(await plan()).toMatchObject({ steps, confirm: "tiny" });
  await project.perform(environment, { kind: "destroy" }, () => {}, context.signal);
  expect(await simulator.listMachines()).toEqual([]);
  expect(await plan()).toMatchObject({ steps: [] });
});
