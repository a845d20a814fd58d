// SPDX-License-Identifier: Apache-2.0
// An environment with deletion protection, through every way to remove its machines without Terraform.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registerDestroy, registerPlan, registerUp } from "../../cli/commands/lifecycle.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { openConsoleProject } from "../../web/server/project.ts";
import { projectSimulator } from "../../workspace/simulator.ts";
import { testContext } from "../support/command-context.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-protected-"));
const simulator = projectSimulator(root);
const names = ["safe-cp-1", "safe-w-1", "safe-w-2"];
const left = async () => (await simulator.listMachines()).map(({ name }) => name).sort();

function write(protection: boolean, workers: number): void {
  const infrastructure = `infrastructure: { kind: simulated, deletionProtection: ${protection} }`;
  const text = `${infrastructure}\ncontrolPlane: { count: 1 }\nworkers: [{ count: ${workers} }]\n`;
  writeFileSync(join(root, "environments/safe.yaml"), text);
}

async function talosmith(...args: string[]) {
  const context = testContext({ cwd: root, env: { PATH: "" } });
  await runProgram(createProgram(context, [registerUp, registerDestroy, registerPlan]), args, context);
  return context.written;
}

beforeAll(async () => {
  mkdirSync(join(root, "environments"));
  writeFileSync(join(root, "cdktf.json"), "{}");
  for (const name of names) await simulator.createMachine({ name, cluster: "safe" });
});
afterAll(async () => {
  for (const { id } of await simulator.listMachines()) await simulator.deleteMachine(id);
  rmSync(root, { recursive: true, force: true });
});

describe("with deletion protection", () => {
  test.each([["down"], ["destroy"]])("%s refuses, says how to lift it and removes nothing", async (command) => {
    write(true, 2);
    const { stderr, exitCode } = await talosmith(command, "safe", "--yes");
    expect(stderr).toContain("cluster safe has deletion protection: it cannot be destroyed");
    expect(stderr).toContain("set infrastructure.deletionProtection to false");
    expect(exitCode).toBe(1);
    expect(await left()).toEqual(names);
  });

  test.each([["plan"], ["up"]])("%s refuses to remove a machine", async (command) => {
    write(true, 1);
    const { stderr, stdout, exitCode } = await talosmith(command, "safe");
    expect(stderr).toContain("cluster safe has deletion protection: safe-w-2 cannot be removed");
    expect(stdout).toBe("");
    expect(exitCode).toBe(1);
    expect(await left()).toEqual(names);
  });

  test("the web console refuses a destroy and a scale-down before it asks", async () => {
    write(true, 2);
    const context = testContext({ cwd: root });
    const project = openConsoleProject(root, context);
    const environment = project.load("safe");
    const refused = "cluster safe has deletion protection";
    await expect(project.plan(environment, { kind: "destroy" }, context.signal)).rejects.toThrow(refused);
    await expect(project.perform(environment, { kind: "destroy" }, () => {}, context.signal)).rejects.toThrow(refused);
    const scale = { kind: "scale", pool: "w", count: 1 } as const;
    await expect(project.plan(environment, scale, context.signal)).rejects.toThrow(refused);
    expect(await left()).toEqual(names);
  });
});

test("without it the same command removes them", async () => {
  write(false, 2);
  expect((await talosmith("destroy", "safe", "--yes")).exitCode).toBe(0);
  expect(await left()).toEqual([]);
});
