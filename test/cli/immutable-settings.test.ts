// SPDX-License-Identifier: Apache-2.0
// What cannot change in a running cluster, through every way to change it without Terraform.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registerDashboard, registerHealth, registerStatus } from "../../cli/commands/inspect.ts";
import { registerDestroy, registerPlan, registerUp } from "../../cli/commands/lifecycle.ts";
import { registerSim } from "../../cli/commands/sim.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { loadEnvironment } from "../../model/index.ts";
import { systemClock } from "../../talos/clock.ts";
import { verdictOn } from "../../watch/decide.ts";
import { openWatchedProject } from "../../watch/project.ts";
import { openConsoleProject } from "../../web/server/project.ts";
import { testContext } from "../support/command-context.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-immutable-"));
const env = { PATH: "/nowhere", TALOSMITH_SIMULATOR_TIME_SCALE: "0.05" };
const contextHere = () => testContext({ cwd: root, env, clock: systemClock });
const simulated = "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\n";
const write = (text: string) => writeFileSync(join(root, "environments/tiny.yaml"), text);

const registrations = [
  registerUp,
  registerPlan,
  registerStatus,
  registerHealth,
  registerDashboard,
  registerDestroy,
  registerSim,
];

async function talosmith(...args: string[]) {
  const context = contextHere();
  await runProgram(createProgram(context, registrations), args, context);
  return context.written;
}

beforeAll(async () => {
  mkdirSync(join(root, "environments"));
  writeFileSync(join(root, "cdktf.json"), "{}");
  write(simulated);
  expect(await talosmith("up", "tiny")).toMatchObject({ exitCode: 0 });
});
afterAll(async () => {
  await talosmith("sim", "down", "--all");
  rmSync(root, { recursive: true, force: true });
});

const metal =
  "infrastructure: { kind: metal, trustOnFirstUse: true, machines: { m-1: { address: 127.0.0.9, role: controlplane } } }\n";

describe.each([
  ["domain", `cluster: { domain: other.local }\n${simulated}`, /it is cluster.local and would become other.local/],
  [
    "serviceCidrs",
    `cluster: { serviceCidrs: [10.112.0.0/12] }\n${simulated}`,
    /is 10.96.0.0\/12 and .* 10.112.0.0\/12/,
  ],
  ["name", `cluster: { name: other }\n${simulated}`, /cluster.name .* it is tiny and would become other/],
  ["kind", metal, /infrastructure.kind .* it is simulated and would become metal/],
])("%s of a running cluster", (_name, text, words) => {
  beforeAll(() => write(text));
  const environment = () => loadEnvironment(root, "tiny");

  test.each([["plan"], ["up"]])("%s refuses, with the old and the new value", async (command) => {
    const { stderr, exitCode } = await talosmith(command, "tiny", ...(command === "up" ? ["--yes"] : []));
    expect(stderr).toMatch(words);
    expect(exitCode).toBe(1);
  });

  test("the web console refuses before it asks", async () => {
    const { plan } = openConsoleProject(root, contextHere());
    await expect(plan(environment(), { kind: "apply" }, new AbortController().signal)).rejects.toThrow(words);
  });

  test("operate repairs nothing", async () => {
    const { signal } = new AbortController();
    const { observe, repair } = openWatchedProject(root, ["tiny"], contextHere());
    const listener = { review: () => {}, begun: () => {}, events: () => {} };
    await expect(repair(environment(), listener, signal)).rejects.toThrow(words);
    if (_name === "name" || _name === "kind") return;
    const verdict = verdictOn(await observe(environment(), signal), { allowed: true, now: Date.now() });
    expect(verdict).toMatchObject({ kind: "report", reason: expect.stringMatching(words) });
  });
});

test("what it was created with is deployed again without a change", async () => {
  write(simulated);
  expect((await talosmith("plan", "tiny")).stdout).toBe("Nothing to change.\n");
});

describe("a file that breaks a rule, with a cluster that is older than the rule", () => {
  beforeAll(() => write(`cluster: { podCidrs: [10.96.0.0/16] }\n${simulated}`));

  test.each([["plan"], ["up"]])("%s refuses it", async (command) => {
    const { stderr, exitCode } = await talosmith(command, "tiny");
    expect(stderr).toMatch(/overlaps/);
    expect(exitCode).toBe(1);
  });

  test.each([["status"], ["health"], ["dashboard"]])("%s shows the cluster", async (command) => {
    const { stdout, stderr, exitCode } = await talosmith(command, "tiny");
    expect(`${stdout}${stderr}`).not.toContain("Error");
    expect(exitCode).toBe(0);
  });

  test.each([
    ["destroy", "tiny is destroyed."],
    ["down", "tiny is not deployed"],
  ])("%s warns of it, and no cluster is left", async (command, end) => {
    const { stderr, exitCode } = await talosmith(command, "tiny");
    expect(stderr).toContain("Warning: environments/tiny.yaml");
    expect(stderr).toMatch(/overlaps/);
    expect(stderr).toContain(end);
    expect(exitCode).toBe(0);
  });
});
