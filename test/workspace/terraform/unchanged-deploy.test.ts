// SPDX-License-Identifier: Apache-2.0
// A deploy that changes nothing waits for the health that `rollout` asks for, and for no more.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { registerDeploy, registerUp } from "../../../cli/commands/lifecycle.ts";
import { registerSim } from "../../../cli/commands/sim.ts";
import { createProgram, runProgram } from "../../../cli/program.ts";
import { systemClock } from "../../../talos/clock.ts";
import { testContext } from "../../support/command-context.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-unchanged-"));
const terraform = join(root, "terraform");
const outputs = { cluster_endpoint: "https://127.0.0.1:6443", control_plane_ips: ["127.0.0.1"], worker_ips: [] };

/** Without a pod network, which the engine is not told, nodes never become ready. */
const environment = (healthLevel: string) =>
  writeFileSync(
    join(root, "environments/tiny.yaml"),
    `cluster: { patches: { all: ["cluster: {network: {cni: {name: none}}}"] } }\ninfrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nrollout: { healthLevel: ${healthLevel} }\n`,
  );

/** Stops when it begins to wait for nodes: it would do so for a quarter of an hour. */
async function talosmith(env: Record<string, string>, ...args: string[]) {
  const stop = new AbortController();
  const context = testContext({ cwd: root, env, clock: systemClock, signal: stop.signal });
  const watched = {
    ...context,
    stderr: {
      ...context.stderr,
      write: (text: string) => {
        context.stderr.write(text);
        if (text.includes("nodes to report ready")) stop.abort();
      },
    },
  };
  await runProgram(createProgram(watched, [registerDeploy, registerUp, registerSim]), args, watched);
  return context.written;
}

beforeAll(async () => {
  vi.stubEnv("TALOSMITH_SIMULATOR_TIME_SCALE", "0.05");
  mkdirSync(join(root, "environments"));
  writeFileSync(join(root, "cdktf.json"), "{}");
  // One that has nothing to change.
  const values = Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, { value }]));
  writeFileSync(terraform, `#!/bin/sh\n[ "$1" = output ] && echo '${JSON.stringify(values)}'\nexit 0\n`);
  chmodSync(terraform, 0o755);
  environment("api");
  expect(await talosmith({ PATH: "/nowhere" }, "up", "tiny")).toMatchObject({ exitCode: 0 });
  // From now on it is managed by that terraform.
  mkdirSync(join(root, "state"), { recursive: true });
  writeFileSync(join(root, "state/tiny.tfstate"), JSON.stringify({ version: 4, serial: 1, resources: [{}] }));
});
afterAll(async () => {
  await talosmith({ PATH: "/nowhere" }, "sim", "down", "--all");
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

const deploy = (...flags: string[]) =>
  talosmith({ PATH: process.env.PATH ?? "", TERRAFORM_BINARY_NAME: terraform }, "deploy", "tiny", ...flags);

test("healthLevel: api does not wait for nodes", async () => {
  const { stdout, stderr, exitCode } = await deploy();
  expect(stderr).toContain("Nothing to change.");
  expect(stdout).toContain("tiny");
  expect(exitCode).toBe(0);
});

test("a machine that did not answer Terraform's plan is waited for, as without Terraform", async () => {
  environment("full");
  const before = readFileSync(terraform, "utf8");
  const warning =
    "No changes.\n\nWarning: Some machines could not be checked\n\ntiny-cp-1: the connection was refused\n";
  writeFileSync(terraform, before.replace("\n[", `\n[ "$1" = plan ] && printf '${warning}'\n[`));
  try {
    const { stderr, exitCode } = await deploy();
    expect(stderr).toContain("tiny-cp-1: the connection was refused");
    expect(stderr).toContain("all k8s nodes to report ready");
    expect(exitCode).not.toBe(0);
  } finally {
    writeFileSync(terraform, before);
  }
});

test("healthLevel: full does", async () => {
  environment("full");
  const { stderr, exitCode } = await deploy();
  expect(stderr).toContain("all k8s nodes to report ready");
  expect(stderr).not.toContain("Nothing to change.");
  expect(exitCode).not.toBe(0);
});

test("--no-kubernetes does not wait for Kubernetes, plans with that, and saves it nowhere", async () => {
  environment("full");
  const [file, before] = [join(root, "environments/tiny.yaml"), readFileSync(terraform, "utf8")];
  const planned = join(root, "planned.json");
  writeFileSync(terraform, before.replace("\n[", `\n[ "$1" = plan ] && cp cdk.tf.json ${planned}\n[`));
  try {
    const { stderr, exitCode } = await deploy("--no-kubernetes");
    expect(stderr).toContain("Nothing to change.");
    expect(exitCode).toBe(0);
    const stack = JSON.parse(readFileSync(planned, "utf8"));
    expect(stack.resource.talosmith_cluster.cluster.rollout).toMatchObject({ health_level: "talos" });
    expect(readFileSync(file, "utf8")).toMatch(/^rollout: \{ healthLevel: full \}$/m);
  } finally {
    writeFileSync(terraform, before);
  }
});
