// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { registerDestroy, registerUp } from "../../cli/commands/lifecycle.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { projectSimulator } from "../../workspace/simulator.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import { testContext } from "../support/command-context.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-owner-"));
const simulator = projectSimulator(root);
const own = `environment tiny, backend local:${realpathSync(root)}/state/tiny.tfstate, workspace default`;
const other = own.replace("default", "second");

beforeAll(async () => {
  mkdirSync(join(root, "environments"));
  writeFileSync(join(root, "cdktf.json"), "{}");
  const text = "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers: []\n";
  writeFileSync(join(root, "environments/tiny.yaml"), text);
  await simulator.createMachine({ name: "tiny-cp-1", cluster: "tiny", owner: other });
});
afterAll(async () => {
  for (const { id } of await simulator.listMachines()) await simulator.deleteMachine(id);
  rmSync(root, { recursive: true, force: true });
});

async function talosmith(...args: string[]) {
  const context = testContext({ cwd: root, env: { PATH: "/nowhere" } });
  await runProgram(createProgram(context, [registerDestroy, registerUp]), args, context);
  return context.written;
}

test.each([["up"], ["down", "--yes"], ["destroy"]])(
  "%s leaves machines alone that another state has",
  async (command, ...flags) => {
    const { stderr, exitCode } = await talosmith(command, "tiny", ...flags);
    expect(stderr).toContain(`Error: the simulated machine tiny-cp-1 belongs to another state: ${other}`);
    expect(stderr).toContain(`This is ${own}.`);
    expect(exitCode).toBe(1);
    expect(await simulator.listMachines()).toMatchObject([{ name: "tiny-cp-1", owner: other, stage: "maintenance" }]);
    expect([existsSync(join(root, "state")), existsSync(join(root, "secrets"))]).toEqual([false, false]);
  },
);

test("what works without Terraform claims the cluster under the name that Terraform would have, and records nothing", () => {
  expect(openWorkspace("tiny", testContext({ cwd: root, env: {} })).claim).toMatchObject({
    owner: own,
    isNew: true,
    onlyCheck: true,
  });
});

test("its own machines, whose state is gone, are changed through Terraform only, and removed without it", async () => {
  const [machine] = await simulator.listMachines();
  await simulator.setOwner(machine?.id ?? "", own);
  const { stderr, exitCode } = await talosmith("up", "tiny");
  expect(stderr).toContain("tiny: its machines were made by Terraform, but neither terraform nor tofu is on the PATH");
  expect(exitCode).toBe(1);
  expect((await talosmith("destroy", "tiny")).exitCode).toBe(0);
  expect(await simulator.listMachines()).toEqual([]);
});
