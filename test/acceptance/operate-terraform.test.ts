// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createProgram, runProgram } from "../../cli/program.ts";
import { registrations } from "../../cli/registrations.ts";
import { systemTiming } from "../../engine/index.ts";
import { systemClock } from "../../talos/clock.ts";
import { type LogEntry, openWatchedProject, operateAll, StatusRecord } from "../../watch/index.ts";
import { projectSimulator } from "../../workspace/simulator.ts";
import { testContext } from "../support/command-context.ts";
import { everything } from "../support/everything.ts";
import { cleanEnvironment, findTools } from "../support/terraform.ts";

const [tool] = findTools();

/** The operator over a simulated cluster that the real terraform or tofu manages. */
describe.skipIf(tool === undefined || !everything)("operate over a cluster that Terraform manages", () => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-operate-terraform-"));
  const env = cleanEnvironment({ TERRAFORM_BINARY_NAME: tool?.path ?? "" });
  const state = join(root, "state/lab.tfstate");

  async function talosmith(...args: string[]) {
    const context = testContext({ cwd: root, env, clock: systemClock });
    await runProgram(createProgram(context, registrations), args, context);
    return context.written;
  }
  const environment = (workers: number, more = "") =>
    writeFileSync(
      join(root, "environments/lab.yaml"),
      `infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers: [{ count: ${workers} }]\noperate: { interval: 5s }\n${more}`,
    );

  /** Operates until a line of the log says so. */
  async function operateUntil(wanted: string, variables = env) {
    const stop = new AbortController();
    const context = testContext({ cwd: root, env: variables, clock: systemClock, signal: stop.signal });
    const record = new StatusRecord();
    const lines: string[] = [];
    const log = ({ message }: LogEntry) => {
      lines.push(message);
      if (message.includes(wanted)) stop.abort();
    };
    const project = openWatchedProject(root, ["lab"], context);
    const { entropy } = context;
    const limit = setTimeout(() => stop.abort(), 120_000);
    await operateAll({ project, record, log, timing: systemTiming, entropy, repair: true, signal: stop.signal });
    clearTimeout(limit);
    expect(lines.join("\n")).toContain(wanted);
    return { lines, allowed: record.entries.get("lab")?.repairAllowed };
  }

  beforeAll(async () => {
    vi.stubEnv("TALOSMITH_SIMULATOR_TIME_SCALE", "0.05");
    mkdirSync(join(root, "environments"));
    writeFileSync(join(root, "cdktf.json"), "{}");
    environment(1);
    const { exitCode, stderr } = await talosmith("deploy", "lab", "--yes");
    expect(exitCode, stderr).toBe(0);
    expect(stderr).toContain(`lab is new: ${tool?.name} manages it (state/lab.tfstate).`);
  });
  afterAll(async () => {
    const simulator = projectSimulator(root);
    for (const { id } of await simulator.listMachines()) await simulator.deleteMachine(id);
    await simulator.shutdown();
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true, force: true });
  });

  const serial = () => (JSON.parse(readFileSync(state, "utf8")) as { serial: number }).serial;

  test("a changed config is planned and applied by it, and its state knows", async () => {
    const before = serial();
    environment(1, "cluster: { patches: { worker: ['machine: { sysctls: { a.b: \"1\" } }'] } }\n");
    const { lines, allowed } = await operateUntil("the machines are what the file says");
    expect(lines).toContain("brings the machines back to what the file says");
    expect(lines).toContain("apply config to lab-w-1 without a reboot");
    expect(allowed).toBe(true);
    expect(serial()).toBeGreaterThan(before);
    expect((await talosmith("plan", "lab")).exitCode).toBe(0);
  });

  test("a machine that the file asks for no more is left to a person", async () => {
    const before = serial();
    environment(0);
    const { lines } = await operateUntil("not repaired: a person has to decide");
    expect(lines).not.toContain("brings the machines back to what the file says");
    expect(serial()).toBe(before);
    environment(1);
  });

  test("without the program it only reports, and says why", async () => {
    const { allowed } = await operateUntil("neither terraform nor tofu is on the PATH", { PATH: "/nowhere" });
    expect(allowed).toBe(false);
  });

  test("with a state that is not in this project it only reports, and names the state", async () => {
    renameSync(state, `${state}.elsewhere`);
    const { allowed } = await operateUntil("it is managed by a Terraform state that is not in this project");
    expect(allowed).toBe(false);
    renameSync(`${state}.elsewhere`, state);
  });
});
