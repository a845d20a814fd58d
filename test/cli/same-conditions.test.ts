// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { registerDashboard, registerStatus } from "../../cli/commands/inspect.ts";
import { registerUp } from "../../cli/commands/lifecycle.ts";
import { registerOperate } from "../../cli/commands/operate.ts";
import { registerUi } from "../../cli/commands/project.ts";
import { registerSim } from "../../cli/commands/sim.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { systemClock } from "../../talos/clock.ts";
import { type TestContext, testContext } from "../support/command-context.ts";

const registrations = [registerUp, registerOperate, registerStatus, registerSim, registerDashboard, registerUi];

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

const patience = { timeout: 30_000, interval: 50 };
const textOf = ({ type, status, reason, message }: Condition) => `${type} is ${status}: ${reason}: ${message}`;
const isBad = ({ type, status }: Condition) => status !== (type === "Drifted" ? "False" : "True");

/** One simulated cluster, observed by everything that shows conditions. */
describe("the conditions of a cluster", { timeout: 120_000 }, () => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-conditions-"));
  const env = { PATH: "/nowhere", TALOSMITH_SIMULATOR_TIME_SCALE: "0.05" };
  const contextFor = (signal?: AbortSignal) =>
    testContext({ cwd: root, env, clock: systemClock, ...(signal && { signal }) });

  async function talosmith(...args: string[]) {
    const context = contextFor();
    await runProgram(createProgram(context, registrations), args, context);
    return context.written;
  }

  /** Runs a command that ends only when it is stopped, until `look` has found something. */
  async function during<T>(args: readonly string[], look: (written: TestContext["written"]) => Promise<T>): Promise<T> {
    const stop = new AbortController();
    const context = contextFor(stop.signal);
    const ended = runProgram(createProgram(context, registrations), args, context);
    try {
      return await look(context.written);
    } finally {
      stop.abort();
      await ended;
    }
  }

  const environment = (more = "") =>
    writeFileSync(
      join(root, "environments/tiny.yaml"),
      `cluster: { kubernetesVersion: 1.35.1${more} }\ninfrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers: [{ count: 1 }]\n`,
    );

  async function inStatus(): Promise<readonly Condition[]> {
    const { stdout, stderr } = await talosmith("status", "tiny", "--json");
    expect(stderr).toBe("");
    return JSON.parse(stdout).conditions;
  }

  function inOperate(): Promise<{ readonly logged: readonly string[]; readonly metrics: readonly string[] }> {
    // Only what has changed is logged; a time that nobody has written down is new.
    rmSync(join(root, "generated/tiny/conditions.json"), { force: true });
    return during(["operate", "tiny", "--json", "--listen", "127.0.0.1:0"], async (written) => {
      const address = await vi.waitFor(() => {
        const found = /http:\/\/[0-9.:]+/.exec(written.stdout)?.[0];
        if (found === undefined) throw new Error(`no address: ${written.stdout}`);
        return found;
      }, patience);
      const metrics = await vi.waitFor(async () => {
        const text = await (await fetch(`${address}/metrics`)).text();
        expect(text).toContain("talosmith_cluster_condition{");
        return text;
      }, patience);
      const lines = written.stdout.trim().split("\n");
      const entries = lines.map((line) => JSON.parse(line) as Record<string, string>);
      const samples = [
        ...metrics.matchAll(/talosmith_cluster_condition\{environment="tiny",type="(\w+)",status="(\w+)"\} 1/g),
      ];
      return {
        logged: entries
          .filter((entry) => entry.event === "condition" && !entry.machine)
          .map(({ message }) => `${message}`),
        metrics: samples.map(([, type, status]) => `${type} ${status}`),
      };
    });
  }

  function inConsole(): Promise<readonly Condition[]> {
    return during(["ui"], async (written) => {
      const address = await vi.waitFor(() => {
        expect(written.stdout).toContain("#token=");
        return new URL(written.stdout.trim());
      }, patience);
      const { origin } = address;
      const token = address.hash.slice("#token=".length);
      const headers = { origin, "x-talosmith": "1", "content-type": "application/json" };
      const session = await fetch(`${origin}/session`, { method: "POST", headers, body: JSON.stringify({ token }) });
      const cookie = session.headers.get("set-cookie")?.split(";")[0] ?? "";
      const events = await fetch(`${origin}/api/events`, { headers: { cookie } });
      let text = "";
      for await (const piece of events.body ?? []) {
        text += new TextDecoder().decode(piece);
        const seen = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data).clusters[0]);
        const found = seen.find((cluster) => cluster?.seenAt);
        if (found !== undefined) return found.conditions;
      }
      throw new Error("the stream has ended");
    });
  }

  beforeAll(async () => {
    vi.stubEnv("TALOSMITH_SIMULATOR_TIME_SCALE", "0.05");
    mkdirSync(join(root, "environments"));
    writeFileSync(join(root, "cdktf.json"), "{}");
    environment();
    expect((await talosmith("up", "tiny")).exitCode).toBe(0);
  });

  afterAll(async () => {
    await talosmith("sim", "down", "--all");
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true, force: true });
  });

  test.each([
    ["that is well", async () => {}, []],
    ["that differs from its file", async () => environment(", certSans: [k8s.example.com]"), ["Drifted"]],
    [
      "with a machine that is off",
      async () => {
        environment();
        await talosmith("sim", "power", "tiny-w-1", "off");
      },
      ["Ready", "Drifted"],
    ],
  ])("%s are the same in status, dashboard, web console, operate and metrics", async (_name, change, expected) => {
    await change();
    const { logged, metrics } = await inOperate();
    const conditions = await inStatus();
    const bad = conditions.filter(isBad);
    expect(bad.map(({ type }) => type)).toEqual(expected);
    expect(logged).toEqual(bad.map(textOf));
    expect(metrics).toEqual(conditions.map(({ type, status }) => `${type} ${status}`));
    expect(await inConsole()).toEqual(conditions.map((condition) => ({ ...condition, ok: !isBad(condition) })));
    const count = `${conditions.length - bad.length} of ${conditions.length} conditions OK`;
    const { stdout: dashboard } = await talosmith("dashboard", "tiny");
    const { stderr: status } = await talosmith("status", "tiny");
    for (const text of [dashboard, status]) {
      expect(text).toContain(count);
      expect(text.match(/^ *\w+ is (True|False|Unknown): .*(?= \()/gm)?.map((line) => line.trim()) ?? []).toEqual(
        bad.map(textOf),
      );
    }
  });
});
