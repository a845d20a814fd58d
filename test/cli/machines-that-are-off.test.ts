// SPDX-License-Identifier: Apache-2.0
// Machines of metal that do not answer yet, or not any more: nothing is called unchanged that was not looked at.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { registerReview } from "../../cli/commands/inspect.ts";
import { registerDeploy, registerPlan, registerUp } from "../../cli/commands/lifecycle.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { systemClock } from "../../talos/clock.ts";
import { secretsStore } from "../../talos/secrets/index.ts";
import { testSecrets } from "../engine/fixture.ts";
import { testContext } from "../support/command-context.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-off-"));
const at = (path: string) => join(root, path);

async function talosmith(...args: string[]) {
  const context = testContext({ cwd: root, env: { PATH: "/nowhere" }, clock: systemClock });
  await runProgram(createProgram(context, [registerDeploy, registerPlan, registerReview, registerUp]), args, context);
  return context.written;
}

beforeAll(() => {
  mkdirSync(at("environments"));
  writeFileSync(at("cdktf.json"), "{}");
  // Addresses of loopback at which nothing listens.
  writeFileSync(
    at("environments/rack.yaml"),
    `cluster: { endpoint: "https://127.91.7.1:6443" }
infrastructure:
  kind: metal
  trustOnFirstUse: true
  machines: { rack-a: { address: 127.91.7.1, role: controlplane }, rack-b: { address: 127.91.7.2, role: worker } }
`,
  );
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const steps = "rack-a: bootstrap etcd, wait for etcd, wait for Kubernetes node";

test("a new cluster is planned whole before its machines answer, and they are named", async () => {
  const { stdout, stderr, exitCode } = await talosmith("plan", "rack");
  expect(stdout).toContain("Trust on first use");
  expect(stdout).toContain(steps);
  for (const machine of ["rack-a", "rack-b"]) expect(stderr).toContain(`Warning: Could not observe ${machine}: `);
  expect(exitCode).toBe(2);
});

test("it is not begun without approval, and nothing is written down before that", async () => {
  const { stderr, exitCode } = await talosmith("up", "rack");
  expect(stderr).toContain(steps);
  expect(stderr).toContain("Error: approval is needed, but there is no terminal to ask on\n");
  expect([exitCode, existsSync(at("state")), existsSync(at("secrets"))]).toEqual([1, false, false]);
});

test("of a cluster that was deployed, of which no machine answers, nothing is said to be unchanged", async () => {
  mkdirSync(at("state"));
  mkdirSync(at("secrets"));
  const machines = ["rack-a controlplane 127.91.7.1", "rack-b worker 127.91.7.2"].map((text) => {
    const [name, role, address] = text.split(" ");
    return { name, role, address };
  });
  writeFileSync(at("state/rack.machines.json"), JSON.stringify({ v: 1, contract: "v1.13", machines }));
  await secretsStore({ kind: "file", path: at("secrets/rack.yaml") }).create(testSecrets());
  const { stdout, stderr, exitCode } = await talosmith("plan", "rack");
  expect(stderr).toContain("Error: no machine of rack answers, so nothing could be compared\n");
  expect([stdout, exitCode]).toEqual(["", 1]);
  const review = await talosmith("review", "rack");
  expect(review.stderr).toContain("Warning: Could not observe rack-a: ");
  expect(review.stderr).toContain("Error: no machine of rack answers, so nothing could be compared\n");
  expect([review.stdout, review.exitCode]).toEqual(["", 1]);
});
