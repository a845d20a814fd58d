// SPDX-License-Identifier: Apache-2.0
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { registerStatus } from "../../cli/commands/inspect.ts";
import { registerUp, registerUpgrade } from "../../cli/commands/lifecycle.ts";
import { registerOperate } from "../../cli/commands/operate.ts";
import { registerSim } from "../../cli/commands/sim.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { systemClock } from "../../talos/clock.ts";
import { testContext } from "../support/command-context.ts";

const registrations = [registerUp, registerOperate, registerStatus, registerUpgrade, registerSim];

/** The operator and a killed upgrade on one simulated machine, as real processes. */
describe("the commands that run for long", () => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-operate-"));
  const env = { PATH: "/nowhere", TALOSMITH_SIMULATOR_TIME_SCALE: "0.05" };

  async function talosmith(...args: string[]) {
    const context = testContext({ cwd: root, env, clock: systemClock });
    await runProgram(createProgram(context, registrations), args, context);
    return context.written;
  }
  const status = async () => JSON.parse((await talosmith("status", "tiny", "--json")).stdout);
  const environment = (more = "") =>
    writeFileSync(
      join(root, "environments/tiny.yaml"),
      `cluster: { kubernetesVersion: 1.35.1${more} }\ninfrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\n`,
    );

  /** A process of its own, with its lines as they come; every one of them is JSON. */
  function start(...args: string[]) {
    const child = spawn(process.execPath, [resolve("bin/talosmith.js"), ...args], { cwd: root, env });
    const lines: Record<string, unknown>[] = [];
    const waiting = new Set<() => void>();
    createInterface({ input: child.stdout }).on("line", (line) => {
      lines.push(JSON.parse(line));
      for (const look of waiting) look();
    });
    const ended = once(child, "close");
    const seen = (wanted: (line: Record<string, unknown>) => boolean) =>
      new Promise<Record<string, unknown>>((resolve, reject) => {
        const look = () => {
          const found = lines.find(wanted);
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        void ended.then(() => reject(new Error(`ended without it: ${JSON.stringify(lines)}`)));
        look();
      });
    return { child, lines, seen, ended };
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

  test("status --json has conditions of the cluster and of each machine, and keeps their times", async () => {
    const first = await status();
    const types = first.conditions.map(({ type }: { type: string }) => type);
    expect(types).toEqual([
      "Ready",
      "EtcdHealthy",
      "KubernetesAvailable",
      "ComponentsReady",
      "Drifted",
      "CertificatesValid",
    ]);
    expect(first.conditions[0]).toMatchObject({ status: "True", reason: "AllReady" });
    expect(first.conditions[4]).toMatchObject({ status: "False", reason: "AsDeclared" });
    expect(first.machines[0].conditions[0]).toMatchObject({ type: "Ready", status: "True", reason: "NodeReady" });
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect((await status()).conditions).toEqual(first.conditions);
  });

  test("operate refuses a name that no file has, and an address that is none", async () => {
    const unknown = await talosmith("operate", "tinny");
    expect([unknown.stderr.includes("environments/tinny.yaml"), unknown.exitCode]).toEqual([true, 1]);
    for (const address of ["9180", "127.0.0.1:99999", "http://localhost:9180"])
      expect((await talosmith("operate", "tiny", "--listen", address)).exitCode).toBe(64);
  });

  test("operate reports, repairs where it is told to, serves metrics, and ends at a safe point", async () => {
    environment(", certSans: [k8s.example.com]");
    const { child, lines, seen, ended } = start("operate", "tiny", "--repair", "--json", "--listen", "127.0.0.1:0");
    try {
      const started = await seen(({ event }) => event === "started");
      const address = /http:\/\/[0-9.:]+/.exec(String(started.message))?.[0];
      await seen(({ event, message }) => event === "repair" && message === "the machines are what the file says");
      await seen(({ message }) => String(message).startsWith("Drifted is False"));
      const metrics = await (await fetch(`${address}/metrics`)).text();
      expect(metrics).toContain(
        'talosmith_machine_ready{environment="tiny",machine="tiny-cp-1",role="controlplane"} 1',
      );
      expect(metrics).toContain('talosmith_drift_steps{environment="tiny"} 0');
      expect(metrics).toContain('operation="repair",outcome="success"} 1');
      expect((await fetch(`${address}/readyz`)).status).toBe(200);
    } finally {
      child.kill("SIGTERM");
    }
    expect((await ended)[0]).toBe(0);
    expect(lines.every(({ v, at }) => v === 1 && typeof at === "string")).toBe(true);
    expect(lines.at(-1)).toMatchObject({ event: "stopped" });
    expect(await status()).toMatchObject({ pending: [] });
  });

  test("an upgrade of Kubernetes that is killed in the middle, as a Job may be, goes on when it is run again", async () => {
    const words = ["upgrade-k8s", "tiny", "--to", "1.36.3", "--yes", "--json"];
    const { child, seen, ended, lines } = start(...words);
    await seen(({ type, step }) => type === "step-finished" && String(step).startsWith("upgrade-"));
    child.kill("SIGKILL");
    await ended;
    expect(lines.map(({ type }) => type)).not.toContain("healthy");
    const left = (await status()).pending;
    expect(left).toContain("upgrade-kubelet/tiny-cp-1");
    expect(left).not.toContain("upgrade-kube-apiserver/tiny-cp-1");
    expect((await talosmith(...words)).exitCode).toBe(0);
    expect(await status()).toMatchObject({ pending: [], machines: [{ kubelet: "v1.36.3" }] });
  });
});
