// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { registerReview, registerStatus } from "../../cli/commands/inspect.ts";
import { registerDeploy, registerDestroy, registerPlan, registerScale } from "../../cli/commands/lifecycle.ts";
import { registerSim } from "../../cli/commands/sim.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import type { ToldEvent } from "../../engine/index.ts";
import { systemClock } from "../../talos/clock.ts";
import { withDirectChange } from "../../workspace/direct-change.ts";
import { isDangerous } from "../../workspace/planned-change.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import { testContext } from "../support/command-context.ts";

const registrations = [
  registerDeploy,
  registerDestroy,
  registerPlan,
  registerReview,
  registerScale,
  registerStatus,
  registerSim,
];

/** Plans and scaling of a cluster on the simulator, without Terraform, as a user would type them. */
describe("the commands that change a cluster", () => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-change-"));
  const file = join(root, "environments/tiny.yaml");
  const context = () => testContext({ cwd: root, env: { PATH: "/nowhere" }, clock: systemClock });
  const talosmith = async (...args: string[]) => {
    const own = context();
    await runProgram(createProgram(own, registrations), args, own);
    return own.written;
  };
  const machines = async () =>
    JSON.parse((await talosmith("status", "tiny", "--json")).stdout).machines.map(
      ({ name, stage }: { name: string; stage: string }) => `${name} ${stage}`,
    );

  beforeAll(() => {
    vi.stubEnv("TALOSMITH_SIMULATOR_TIME_SCALE", "0.2");
    mkdirSync(join(root, "environments"));
    writeFileSync(join(root, "cdktf.json"), "{}");
    writeFileSync(
      file,
      "# ours\ncluster: { configContract: v1.13 }\ninfrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers:\n  - count: 1 # for now\n",
    );
    writeFileSync(
      join(root, "environments/rack.yaml"),
      `infrastructure: { kind: metal, machines: { rack-a: { address: 192.0.2.7, role: controlplane, fingerprint: "${"a".repeat(43)}=" } } }\ncluster: { endpoint: "https://192.0.2.7:6443" }\n`,
    );
  });
  afterAll(async () => {
    await talosmith("sim", "down", "--all");
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true, force: true });
  });

  test("what is not deployed is not scaled, and its file stays as it is", async () => {
    const before = readFileSync(file, "utf8");
    const { stderr, exitCode } = await talosmith("scale", "tiny", "w", "--to", "2");
    expect(stderr).toMatch(/^Error: tiny is not deployed: there is nothing to change\n/);
    expect([exitCode, readFileSync(file, "utf8")]).toEqual([1, before]);
  });

  test("plan of a new cluster has all its steps, as text and as JSON", async () => {
    const text = await talosmith("plan", "tiny");
    expect(text.stderr).toContain("Planning tiny\n");
    expect(text.stdout).toContain(
      "Infrastructure (3)\n  create 2 machines: tiny-cp-1, tiny-w-1\n  create client files: ",
    );
    expect(text.stdout).toContain(
      "  Bootstrap etcd\n    tiny-cp-1: bootstrap etcd, wait for etcd, wait for Kubernetes node\n",
    );
    expect(text.exitCode).toBe(2);
    const { stdout, exitCode } = await talosmith("plan", "tiny", "--json");
    const plan = JSON.parse(stdout);
    expect(plan).toMatchObject({
      v: 1,
      environment: "tiny",
      managedBy: "talosmith",
      changes: true,
      findings: [],
      infrastructure: [
        { what: "create 2 machines", names: ["tiny-cp-1", "tiny-w-1"] },
        { what: "create client files" },
      ],
      unhealthy: [],
    });
    expect(plan.clusters[0].steps).toContain("bootstrap etcd on tiny-cp-1");
    expect(text.stdout).toContain(`Steps (${plan.clusters[0].steps.length})`);
    expect(exitCode).toBe(2);
  });

  test("deploy takes the steps of that plan, and then plan is empty in every form", async () => {
    const deployed = await talosmith("deploy", "tiny");
    expect(deployed.stderr).toMatch(
      /^tiny is new: talosmith manages it without Terraform\.\nPlanning tiny\n\nInfrastructure \(3\)\n/,
    );
    expect(deployed.stdout).toContain("tiny is up: 1 control plane, 1 worker");
    expect(deployed.exitCode).toBe(0);
    for (const flags of [[], ["--raw"]])
      expect(await talosmith("plan", "tiny", ...flags)).toMatchObject({ stdout: "Nothing to change.\n", exitCode: 0 });
    const { stdout, exitCode } = await talosmith("plan", "tiny", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ changes: false, findings: [], infrastructure: [], clusters: [] });
    expect(exitCode).toBe(0);
  });

  test("plan --raw says that a cluster without Terraform has none, and refuses --json beside it", async () => {
    const { stderr } = await talosmith("plan", "tiny", "--raw");
    expect(stderr).toContain("Without Terraform there is no raw plan: this is the plan of talosmith.\n");
    const refused = await talosmith("plan", "tiny", "--raw", "--json");
    expect([refused.exitCode, refused.stdout]).toEqual([64, ""]);
    expect(refused.stderr).toContain("'--raw' cannot be used with option '--json'");
  });

  test("review of a deployed environment says what differs, not what a first apply makes", async () => {
    expect((await talosmith("review", "tiny")).stdout).toBe("## Nothing to change\n");
    const before = readFileSync(file, "utf8");
    writeFileSync(file, before.replace("count: 1 # for now", "count: 2"));
    const { stdout } = await talosmith("review", "tiny");
    writeFileSync(file, before);
    expect(stdout).toContain("apply initial config to tiny-w-2");
    expect(stdout).not.toContain("tiny-cp-1");
  });

  test("a client file that is missing on this machine is no change, and a deploy writes it", async () => {
    const kubeconfig = join(root, "generated/tiny/kubeconfig");
    rmSync(kubeconfig);
    expect(await talosmith("plan", "tiny")).toMatchObject({ stdout: "Nothing to change.\n", exitCode: 0 });
    expect((await talosmith("deploy", "tiny")).exitCode).toBe(0);
    expect(readFileSync(kubeconfig, "utf8")).toContain("kind: Config");
  });

  test.each([
    [["tiny", "gpu"], "tiny has no pool gpu", "Its pools: w, cp."],
    [["rack", "cp"], "rack: the machines of kind metal are listed one by one", "infrastructure.machines in"],
  ])("scale %j is refused", async (words, message, hint) => {
    const { stderr, exitCode } = await talosmith("scale", ...words, "--to", "3");
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
    expect(exitCode).toBe(1);
  });

  test("a dry run of scale shows the plan, changes nothing and ends with 0", async () => {
    const before = readFileSync(file, "utf8");
    const { stdout, stderr, exitCode } = await talosmith("scale", "tiny", "w", "--to", "2", "--dry-run");
    expect(stderr).toContain("tiny is managed without Terraform.\nenvironments/tiny.yaml: machines in pool w 1 → 2\n");
    expect(stdout).toContain("  create machine: tiny-w-2\n");
    expect(stdout).toContain("  Apply initial configs\n    tiny-w-2: apply initial config, wait for Kubernetes node\n");
    expect(stderr).toMatch(/\nNothing was changed\. To do it: talosmith scale tiny w --to 2\n$/);
    expect([exitCode, readFileSync(file, "utf8")]).toEqual([0, before]);
    expect(await machines()).toEqual(["tiny-cp-1 running", "tiny-w-1 running"]);
  });

  test("an even number of control planes is warned of by plan, deploy and scale alike, once each", async () => {
    const warning = /controlPlane\.count\n(?:.*\n)*?\s+found 2\n\s+expected an odd number\n/g;
    const dryRun = await talosmith("scale", "tiny", "cp", "--to", "2", "--dry-run");
    expect(dryRun.stderr.match(warning)).toHaveLength(1);
    const before = readFileSync(file, "utf8");
    expect((await talosmith("scale", "tiny", "cp", "--to", "2", "--write-only")).stderr.match(warning)).toHaveLength(1);
    expect((await talosmith("plan", "tiny")).stderr.match(warning)).toHaveLength(1);
    writeFileSync(file, before);
  });

  test("a dry run of destroy shows the plan, dangers first, changes nothing and ends with 0", async () => {
    const { stdout, stderr, exitCode } = await talosmith("destroy", "tiny", "--dry-run");
    expect(stdout).toMatch(
      /^DANGER Cluster destroyed: .*\n\nInfrastructure\n {2}destroy 2 machines: tiny-cp-1, tiny-w-1\n/,
    );
    expect(stderr).toBe(
      "tiny is managed without Terraform.\nPlanning tiny\n\nNothing was changed. To do it: talosmith destroy tiny\n",
    );
    expect(exitCode).toBe(0);
    const json = JSON.parse((await talosmith("destroy", "tiny", "--dry-run", "--json")).stdout);
    expect(json).toMatchObject({ v: 1, environment: "tiny", findings: [{ level: "danger" }] });
    expect(await machines()).toEqual(["tiny-cp-1 running", "tiny-w-1 running"]);
  });

  test("scale writes the number and makes the machine; the same number again changes nothing", async () => {
    const words = ["scale", "tiny", "w", "--to", "2"];
    const { stdout, exitCode } = await talosmith(...words);
    expect(stdout).toContain("tiny is up: 1 control plane, 2 workers");
    expect(exitCode).toBe(0);
    expect(readFileSync(file, "utf8")).toContain("# ours\n");
    expect(readFileSync(file, "utf8")).toContain("  - count: 2 # for now\n");
    expect(await machines()).toEqual(["tiny-cp-1 running", "tiny-w-1 running", "tiny-w-2 running"]);
    const again = await talosmith(...words);
    expect(again.stderr).toContain("environments/tiny.yaml has 2 machines in pool w already.\n");
    expect(again.stderr).toContain("Nothing to change.\n");
    expect(again.exitCode).toBe(0);
  });

  test("--write-only of scale leaves the machines to the next deploy", async () => {
    expect((await talosmith("scale", "tiny", "w", "--to", "1", "--write-only")).stderr).toContain(
      "Now: talosmith deploy tiny\n",
    );
    expect(readFileSync(file, "utf8")).toContain("  - count: 1 # for now\n");
    const { stdout, exitCode } = await talosmith("plan", "tiny");
    expect(stdout).toContain("Infrastructure (1)\n  destroy machine: tiny-w-2\n\nSteps (3)\n");
    expect(exitCode).toBe(2);
  });

  test("what would lose data and was not in the plan that was shown is refused, and nothing is changed", async () => {
    // A machine that is off cannot be wiped, so the plan has no such step; then it is back.
    await talosmith("sim", "power", "tiny-w-2", "off");
    const workspace = openWorkspace("tiny", context());
    await withDirectChange(workspace, { intent: "deploy" }, async (change) => {
      expect(change.review.clusters[0]?.steps?.join("\n")).not.toContain("wipe");
      await talosmith("sim", "power", "tiny-w-2", "on");
      await expect.poll(async () => (await talosmith("plan", "tiny")).stdout).toContain("wipe its disk");
      await expect(change.apply(() => {})).rejects.toMatchObject({
        code: "conflict",
        message: expect.stringMatching(/^the plan has changed: .*tiny-w-2.*wipe its disk/),
        hint: "Run the same command again and review the new plan.",
      });
    });
    const { machines: found } = JSON.parse((await talosmith("sim", "list", "--json")).stdout);
    expect(found.map(({ name, stage }: { name: string; stage: string }) => `${name} ${stage}`)).toContain(
      "tiny-w-2 running",
    );
    await withDirectChange(workspace, { intent: "deploy" }, async (change) => {
      expect(isDangerous(change)).toBe(false);
      const events: ToldEvent[] = [];
      expect(await change.apply((event) => void events.push(event))).toMatchObject({ changed: true });
      const removal = "destroy/tiny-w-2";
      expect(events.find(({ type }) => type === "planned")?.steps?.map(({ id }) => id)).toContain(removal);
      expect(events.filter(({ type }) => type === "step-finished").map(({ step }) => step?.id)).toContain(removal);
    });
    expect(await machines()).toEqual(["tiny-cp-1 running", "tiny-w-1 running"]);
  });
});
