// SPDX-License-Identifier: Apache-2.0
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EngineTask } from "./engine-process.ts";
import { testSecretsFile } from "./fixture.ts";
import { type SimulatedLab, simulatedLab } from "./simulated-cluster.ts";

const names = ["cp-1", "cp-2", "cp-3", "w-1", "w-2"];
const boundaries = ["step-started", "step-finished"].flatMap((type) => [
  ...names.flatMap((name) => [`${type} apply-config/${name}`, `${type} join-kubernetes/${name}`]),
  `${type} bootstrap-etcd/cp-1`,
  ...["cp-1", "cp-2", "cp-3"].map((name) => `${type} join-etcd/${name}`),
]);
// All of them take minutes; a few in every run keep the others honest.
const everyday = ["step-started apply-config/cp-1", "step-finished bootstrap-etcd/cp-1"];
const chosen = process.env.TALOSMITH_TEST_ALL === undefined ? everyday : boundaries;

describe("a process that is killed with SIGKILL", { timeout: 60_000 }, () => {
  let lab: SimulatedLab;
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "talosmith-sigkill-"));
    lab = await simulatedLab("sigkill");
    for (const name of names) await lab.create(name);
  }, 60_000);
  afterAll(async () => {
    await lab.end();
    await rm(directory, { recursive: true, force: true });
  });

  test.each(chosen)("at: %s, leaves a cluster that the next one completes", async (killAt) => {
    const desired = await lab.desired(names);
    const file = join(directory, "task.json");
    const task: Omit<EngineTask, "killAt"> = {
      spec: {
        name: "sigkill",
        endpoint: desired.endpoint,
        kubernetesVersion: "1.36.3",
        machines: await lab.machines(names),
      },
      talosVersion: "v1.13.9",
      secretsFile: testSecretsFile,
      lockFile: lab.lockFile,
    };
    await writeFile(file, JSON.stringify({ ...task, killAt }));
    expect((await runEngine(file)).signal).toBe("SIGKILL");
    await writeFile(file, JSON.stringify(task));
    const second = await runEngine(file);
    expect(second).toMatchObject({ code: 0 });
    if (killAt === "step-finished bootstrap-etcd/cp-1") expect(second.output).not.toContain("bootstrap-etcd");
    expect(await lab.apply(desired)).toMatchObject({ steps: [] });
    await lab.destroy(desired);
  });
});

async function runEngine(file: string): Promise<{ code: number | null; signal: string | null; output: string }> {
  const program = resolve("test/talos/cluster/engine-process.ts");
  const child = spawn(process.execPath, ["--import", "tsx", program, file], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  const [code, signal] = await once(child, "close");
  return { code, signal, output };
}
