// SPDX-License-Identifier: Apache-2.0
// The web console over a cluster that a fake terraform manages: it plans one update of the cluster, and applies nothing.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { ToldEvent } from "../../engine/index.ts";
import { planWith, reviewPlan } from "../../review/index.ts";
import { systemClock } from "../../talos/clock.ts";
import { reviewSteps } from "../../web/server/change-action.ts";
import { openConsoleProject } from "../../web/server/project.ts";
import type { Action } from "../../web/shared/wire.ts";
import { testContext } from "../support/command-context.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-change-action-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const at = (path: string) => join(root, path);
const file = "environments/tiny.yaml";
const text =
  "cluster: { talosVersion: v1.13.8, kubernetesVersion: 1.36.1 }\ninfrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers: [{ count: 1 }]\n";

const values = { name: "tiny", machines: { "tiny-cp-1": { role: "controlplane", member_id: "1" } } };
const change = { actions: ["update"], before: values, after: { ...values, steps: ["1. reboot tiny-cp-1"] } };
const resource = { address: "talosmith_cluster.tiny", mode: "managed", type: "talosmith_cluster", change };

/** Notes what it is asked for, the Kubernetes version of the stack where it runs, and the one that the file has then. */
function fakeTerraform(resources: readonly object[], extra = ""): void {
  const plan = JSON.stringify({ format_version: "1.2", resource_changes: resources });
  writeFileSync(
    at("terraform"),
    `#!/bin/sh
stack=$(grep -o '"kubernetes_version": "[0-9.]*"' cdk.tf.json | grep -o '[0-9.]*' | head -n 1)
echo "$1 $stack $(grep -o 'kubernetesVersion: [0-9.]*' ${at(file)})" >> ${at("calls")}
${extra}
case "$1" in
  plan) for word in "$@"; do case "$word" in -out=*) echo plan > "\${word#-out=}";; esac; done; exit 2;;
  show) echo '${plan}';;
  apply) ls >> ${at("calls")}; echo '{"at":"2026-11-18T06:00:00Z","type":"healthy","message":"healthy"}' >> "$TALOSMITH_EVENT_FILE";;
esac
`,
  );
  chmodSync(at("terraform"), 0o755);
}

const calls = () => readFileSync(at("calls"), "utf8");
const upgrade = { kind: "upgrade", kubernetesVersion: "1.36.3" } as const;

function open(env: Readonly<Record<string, string>> = { TERRAFORM_BINARY_NAME: at("terraform") }) {
  const context = testContext({ cwd: root, env: { PATH: process.env.PATH ?? "", ...env }, clock: systemClock });
  return { project: openConsoleProject(root, context), signal: context.signal };
}

beforeEach(() => {
  for (const folder of ["environments", "state"]) mkdirSync(at(folder), { recursive: true });
  writeFileSync(at("cdktf.json"), "{}");
  writeFileSync(at("calls"), "");
  writeFileSync(at(file), text);
  writeFileSync(at("state/tiny.tfstate"), JSON.stringify({ version: 4, serial: 1, resources: [{}] }));
  fakeTerraform([resource]);
});

describe("a change of a cluster that Terraform manages", () => {
  test("is planned by it with the edit, while the file is as before", async () => {
    const { project, signal } = open();
    const { steps, manager, confirm } = await project.plan(project.load("tiny"), upgrade, signal);
    expect(steps.map(({ sentence }) => sentence)).toEqual([
      `write into ${file}: Kubernetes 1.36.3`,
      "reboot tiny-cp-1",
    ]);
    expect([manager, confirm]).toEqual(["terraform", null]);
    expect(calls()).toContain("plan 1.36.3 kubernetesVersion: 1.36.1");
    expect(readFileSync(at(file), "utf8")).toBe(text);
    expect(readdirSync(at("cdktf.out"))).toEqual([]);
  });

  test("does not see the edit of another plan", async () => {
    const { project, signal } = open();
    const environment = project.load("tiny");
    await Promise.all(
      [upgrade, { kind: "scale", pool: "w", count: 2 } as const].map((action) =>
        project.plan(environment, action, signal),
      ),
    );
    const planned = calls().match(/^plan .*$/gm);
    expect(planned?.sort()).toEqual(["plan 1.36.1 kubernetesVersion: 1.36.1", "plan 1.36.3 kubernetesVersion: 1.36.1"]);
  });

  test("is applied from the saved plan when it is accepted, and the file keeps the version", async () => {
    const { project, signal } = open();
    const events: ToldEvent[] = [];
    const environment = project.load("tiny");
    await project.perform(environment, upgrade, (event) => events.push(event), signal);
    expect(events[0]).toMatchObject({ type: "waiting", message: "planning" });
    expect(calls()).toMatch(/apply 1\.36\.3 kubernetesVersion: 1\.36\.3\n[\s\S]*\.tfplan/);
    expect(readFileSync(at("cdktf.out/stacks/tiny/cdk.tf.json"), "utf8")).toContain("1.36.3");
    expect(readFileSync(at(file), "utf8")).toContain("kubernetesVersion: 1.36.3");
  });

  test("that is refused applies nothing and leaves the file as it was", async () => {
    const { project, signal } = open();
    const refuse = () => {
      throw new Error("the plan has changed");
    };
    const refused = project.perform(project.load("tiny"), upgrade, () => {}, signal, refuse);
    await expect(refused).rejects.toThrow("the plan has changed");
    expect(calls()).not.toContain("apply");
    expect(readFileSync(at(file), "utf8")).toBe(text);
  });

  test("does not overwrite what a person writes into the file while it is planned", async () => {
    fakeTerraform([resource], `[ "$1" = plan ] && echo '# mine' >> ${at(file)}`);
    const { project, signal } = open();
    await expect(project.perform(project.load("tiny"), upgrade, () => {}, signal)).rejects.toMatchObject({
      message: `${file} has changed since this was planned`,
    });
    expect(calls()).not.toContain("apply");
    expect(readFileSync(at(file), "utf8")).toBe(`${text}# mine\n`);
  });

  test("leaves the file as it was when the plan fails, with Terraform's words", async () => {
    fakeTerraform([resource], '[ "$1" = plan ] && { echo "Error: No valid credential sources found" >&2; exit 1; }');
    const { project, signal } = open();
    await expect(project.plan(project.load("tiny"), upgrade, signal)).rejects.toMatchObject({
      message: expect.stringContaining("No valid credential sources found"),
      hint: expect.stringContaining("Sign in to AWS first"),
    });
    expect(readFileSync(at(file), "utf8")).toBe(text);
  });

  test("has another id when the plan is another, and asks for the name where it is dangerous", async () => {
    const { project, signal } = open();
    const plan = () => project.plan(project.load("tiny"), { kind: "apply" }, signal);
    const first = await plan();
    expect((await plan()).id).toBe(first.id);
    const replaced = { ...resource, change: { ...change, actions: ["delete", "create"] } };
    fakeTerraform([replaced]);
    const second = await plan();
    expect(second.id).not.toBe(first.id);
    expect(second).toMatchObject({ confirm: "tiny", findings: [{ level: "danger", title: "Cluster destroyed" }] });
  });

  test.each([
    [
      "value that no plan shows",
      `${text}rollout: { maxUnavailable: 2 }\n`,
      "machine: { sysctls: { vm.max_map_count: '1' } }\n",
    ],
    ["secret patch", text, "machine: { sysctls: { vm.max_map_count: '2' } }\n"],
  ])("has another id when a file has another %s", async (_, newText, newPatch) => {
    const patched = (of: string) => of.replace("cluster: {", "cluster: { patchFiles: [secrets/patch.yaml],");
    mkdirSync(at("secrets"), { recursive: true });
    writeFileSync(at("secrets/patch.yaml"), "machine: { sysctls: { vm.max_map_count: '1' } }\n");
    writeFileSync(at(file), patched(text));
    const { project, signal } = open();
    const idOf = async (action: Action) => (await project.plan(project.load("tiny"), action, signal)).id;
    const before = [await idOf({ kind: "apply" }), await idOf({ kind: "destroy" })];
    expect([await idOf({ kind: "apply" }), await idOf({ kind: "destroy" })]).toEqual(before);
    writeFileSync(at(file), patched(newText));
    writeFileSync(at("secrets/patch.yaml"), newPatch);
    expect(before).not.toContain(await idOf({ kind: "apply" }));
    expect(before).not.toContain(await idOf({ kind: "destroy" }));
  });

  test("a destroy leaves neither state nor stack", async () => {
    const empty = `test "$1" = apply && echo '{"version":4,"serial":2}' > ${at("state/tiny.tfstate")}`;
    fakeTerraform([{ ...resource, change: { actions: ["delete"], before: values, after: null } }], empty);
    const { project, signal } = open();
    const plan = await project.plan(project.load("tiny"), { kind: "destroy" }, signal);
    expect(plan).toMatchObject({ confirm: "tiny", steps: [{ sentence: "destroy cluster tiny", destructive: true }] });
    await project.perform(project.load("tiny"), { kind: "destroy" }, () => {}, signal);
    expect([existsSync(at("state/tiny.tfstate")), existsSync(at("cdktf.out"))]).toEqual([false, false]);
  });

  test("is not possible without terraform, and the reason is one line", async () => {
    const { project } = open({ PATH: "/nowhere" });
    expect(await project.obstacle(project.load("tiny"))).toBe(
      "tiny: it is managed by Terraform, but neither terraform nor tofu is on the PATH. Install terraform or tofu, or set TERRAFORM_BINARY_NAME to its path.",
    );
  });
});

test("machines that go lose data, and steps that are not known yet are said to be so", () => {
  const machine = (name: string, action: "create" | "delete") => {
    const of = { name };
    const [before, after] = action === "create" ? [null, of] : [of, null];
    return { address: name, type: "aws_instance", action, before, after, unknown: {}, replacedFor: [] };
  };
  const cluster = { address: "c", type: "talosmith_cluster", action: "update", unknown: {}, replacedFor: [] } as const;
  const changes = [machine("w-1", "create"), machine("w-2", "delete"), { ...cluster, before: values, after: values }];
  expect(reviewSteps(reviewPlan(planWith(changes)))).toEqual([
    { id: "1", sentence: "create machine: w-1", destructive: false },
    { id: "2", sentence: "destroy machine: w-2", destructive: true },
    {
      id: "3",
      sentence: "cluster tiny: steps are computed during the apply",
      destructive: false,
    },
  ]);
});
