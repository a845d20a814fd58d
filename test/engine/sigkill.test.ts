// SPDX-License-Identifier: Apache-2.0
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { compiled } from "../../scripts/bench/compiled.ts";
import { everything } from "../support/everything.ts";
import type { EngineTask } from "./engine-process.ts";
import { testSecretsFile } from "./fixture.ts";
import { type SimulatedLab, simulatedLab } from "./simulated-cluster.ts";

const names = ["cp-1", "cp-2", "cp-3", "w-1", "w-2"];
const controlPlanes = names.slice(0, 3);
const on = (kind: string, machines: readonly string[]) => machines.map((name) => `${kind}/${name}`);
const boundaries = (steps: readonly string[]) =>
  steps.flatMap((step) => [`step-started ${step}`, `step-finished ${step}`]);

const ofBringUp = boundaries([
  ...on("apply-config", names),
  "bootstrap-etcd/cp-1",
  ...on("join-etcd", controlPlanes),
  ...on("join-kubernetes", names),
]);
const ofReboots = boundaries([
  ...["drain", "apply-config", "join-kubernetes", "uncordon"].flatMap((kind) => on(kind, names)),
  ...on("join-etcd", controlPlanes),
]);
// All 74 take many minutes (npm run test:all); a few of different kinds in every run keep the others honest. The same
// kills, before and after every single deed, are tried without processes in kill.test.ts.
const chosen = (all: readonly string[], everyday: readonly string[]) => (everything ? all : everyday);

describe("a process that is killed with SIGKILL", { timeout: everything ? 600_000 : 90_000 }, () => {
  let lab: SimulatedLab;
  let directory: string;
  let program: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "talosmith-sigkill-"));
    // Compiled once: it is started twice for every boundary.
    program = await compiled(resolve("test/engine/engine-process.ts"), directory);
    lab = await simulatedLab("sigkill");
    for (const name of names) await lab.create(name);
  });
  // A test that ran out of time must not leave a process behind that holds the lock of the next one.
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });
  afterAll(async () => {
    await lab.end();
    await rm(directory, { recursive: true, force: true });
  });

  /** Kills one process at the boundary and lets another one complete the work; returns what that one did. */
  async function killAndComplete(killAt: string, patches: readonly string[]): Promise<string> {
    const desired = await lab.desired(names, { patches: { all: patches } });
    const machines = await lab.machines(names);
    const spec = {
      name: "sigkill",
      endpoint: desired.endpoint,
      kubernetesVersion: "1.36.3",
      machines,
      patches: { all: patches },
    };
    const task: EngineTask = { spec, talosVersion: "v1.13.9", secretsFile: testSecretsFile, lockFile: lab.lockFile };
    const file = join(directory, "task.json");
    await writeFile(file, JSON.stringify({ ...task, killAt }));
    expect((await runEngine(program, file)).signal).toBe("SIGKILL");
    await writeFile(file, JSON.stringify(task));
    const second = await runEngine(program, file);
    expect(second.code).toBe(0);
    expect(await lab.apply(desired)).toMatchObject({ steps: [] });
    return second.output;
  }

  test.each(chosen(ofBringUp, ["step-started apply-config/w-1", "step-finished bootstrap-etcd/cp-1"]))(
    "in a bring-up, at: %s, leaves a cluster that the next one completes",
    async (killAt) => {
      await lab.destroy(await lab.desired(names));
      const done = await killAndComplete(killAt, []);
      if (killAt === "step-finished bootstrap-etcd/cp-1") expect(done).not.toContain("bootstrap-etcd");
    },
  );

  test.each(chosen(ofReboots, ["step-finished drain/cp-1"]))(
    "in a rollout with reboots, at: %s, leaves a rollout that the next one completes",
    async (killAt) => {
      await lab.apply(await lab.desired(names));
      const content = ofReboots.indexOf(killAt);
      const patch = `machine: {files: [{content: "${content}", path: /var/etc/x, op: create, permissions: 0o600}]}`;
      expect(await killAndComplete(killAt, [patch])).not.toContain("bootstrap-etcd");
    },
  );
});

const children: ChildProcess[] = [];

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly output: string;
}

async function runEngine(program: string, file: string): Promise<Ended> {
  const child = spawn(process.execPath, [program, file], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  const [code, signal] = await once(child, "close");
  return { code, signal, output };
}
