// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { registerHealth, registerStatus } from "../../cli/commands/inspect.ts";
import { registerDeploy, registerDestroy, registerPlan, registerUp } from "../../cli/commands/lifecycle.ts";
import { registerMachine } from "../../cli/commands/machine.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import type { SimulatedMachine } from "../../simulator/control/index.ts";
import { systemClock } from "../../talos/clock.ts";
import { projectSimulator } from "../../workspace/simulator.ts";
import { testContext } from "../support/command-context.ts";
import { everything } from "../support/everything.ts";
import { kubernetesGet } from "../support/kubernetes-get.ts";
import { findProgram, programFolder } from "../support/programs.ts";

const registrations = [
  registerDeploy,
  registerDestroy,
  registerHealth,
  registerMachine,
  registerPlan,
  registerStatus,
  registerUp,
];
const managers = everything ? (["terraform", "tofu", "talosmith"] as const) : (["talosmith"] as const);

/** Machines of a simulator that the project knows nothing of: all it has are their addresses. */
describe.each(managers)("a metal environment through %s", (manager) => {
  const binary = manager === "talosmith" ? undefined : findProgram(manager);
  const missing = manager !== "talosmith" && binary === undefined;
  const elsewhere = mkdtempSync(join(tmpdir(), "talosmith-rack-"));
  const root = mkdtempSync(join(tmpdir(), "talosmith-metal-"));
  const path = programFolder({ node: findProgram("node"), ...(binary === undefined ? {} : { [manager]: binary }) });
  const talosconfig = join(root, "generated/rack/talosconfig");
  const boxes = new Map<string, SimulatedMachine>();

  async function talosmith(...args: string[]) {
    const env = { PATH: path, HOME: root, TALOSCONFIG: talosconfig };
    const context = testContext({ cwd: root, env, clock: systemClock });
    await runProgram(createProgram(context, registrations), args, context);
    return context.written;
  }

  /** Writes the environment with these machines, by first letter of the role. */
  function write(machines: Readonly<Record<string, "controlplane" | "worker">>, more: { sysctl?: string } = {}): void {
    const entries = Object.entries(machines).map(([name, role]) => {
      const { address = "", fingerprint } = boxes.get(name) ?? {};
      // One machine is trusted as it is, the others by fingerprint.
      return [name, { address, role, disk: "/dev/sda", ...(name === "rack-d" ? {} : { fingerprint }) }];
    });
    const environment = {
      cluster: { patches: { all: [{ machine: { sysctls: { "vm.max_map_count": more.sysctl ?? "262144" } } }] } },
      infrastructure: {
        kind: "metal",
        trustOnFirstUse: true,
        meta: { "12": "host: {{hostname}}\nrole: {{role}}\n" },
        machines: Object.fromEntries(entries),
      },
      workers: [{ labels: { rack: "one" } }],
    };
    writeFileSync(join(root, "environments/rack.yaml"), stringify(environment));
  }

  const deploy = () => talosmith("deploy", "rack", "--yes");
  const nodes = async (): Promise<readonly string[]> => {
    const kubeconfig = readFileSync(join(dirname(talosconfig), "kubeconfig"), "utf8");
    const list = JSON.parse(await kubernetesGet(kubeconfig, "/api/v1/nodes"));
    return list.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name).sort();
  };
  const plan = async () => {
    const { stderr, exitCode } = await talosmith("plan", "rack");
    expect(stderr).toMatch(/^rack is (new|managed)[\s\S]*Initial config:/m);
    return exitCode;
  };
  const modes = async () => {
    const machines = await projectSimulator(elsewhere).listMachines();
    return Object.fromEntries(machines.map(({ name, stage }) => [name, stage]));
  };

  beforeAll(async () => {
    if (missing) return;
    mkdirSync(join(root, "environments"));
    writeFileSync(join(root, "cdktf.json"), "{}");
    for (const name of ["rack-a", "rack-b", "rack-c", "rack-d"])
      boxes.set(name, await projectSimulator(elsewhere).createMachine({ name: `box-${name}`, cluster: "nobody" }));
  });

  afterAll(async () => {
    if (!missing) await projectSimulator(elsewhere).shutdown();
    for (const folder of [root, elsewhere, path]) rmSync(folder, { recursive: true, force: true });
  });

  test.skipIf(missing)("a plan tells what would be done before anything is there", async () => {
    write({ "rack-a": "controlplane", "rack-d": "worker" });
    const { stdout, exitCode } = await talosmith("plan", "rack");
    expect(stdout).toContain("goes to whatever answers at the address of rack-d.\n");
    expect(stdout).toMatch(/^ {4}rack-a: apply initial config$/m);
    expect(stdout).toMatch(/^ {4}rack-d: apply initial config \(trust on first use/m);
    expect(stdout).toMatch(/^ {4}rack-d: .*write META key 12/m);
    expect(exitCode).toBe(2);
  });

  test.skipIf(missing)("deploy takes the machines at their addresses into a cluster", async () => {
    const { stderr, stdout } = await deploy();
    expect(stderr + stdout).toContain("rack is up: 1 control plane, 1 worker");
    expect(await nodes()).toEqual(["rack-a", "rack-d"]);
    const { stdout: meta } = await talosmith(
      "get",
      "metakeys",
      "0x0c",
      "-n",
      boxes.get("rack-d")?.address ?? "",
      "-o",
      "yaml",
    );
    expect(meta).toContain('host: "rack-d"');
    expect(await plan()).toBe(0);
    expect((await talosmith("status", "rack")).stdout).toMatch(/rack-d +worker/);
    expect((await talosmith("health", "rack")).exitCode).toBe(0);
  });

  test.skipIf(missing)("two more control planes join", async () => {
    write({ "rack-a": "controlplane", "rack-b": "controlplane", "rack-c": "controlplane", "rack-d": "worker" });
    expect((await deploy()).exitCode).toBe(0);
    expect(await nodes()).toEqual(["rack-a", "rack-b", "rack-c", "rack-d"]);
    expect(await plan()).toBe(0);
  });

  test.skipIf(missing)("a changed config reaches every machine", async () => {
    const all = {
      "rack-a": "controlplane",
      "rack-b": "controlplane",
      "rack-c": "controlplane",
      "rack-d": "worker",
    } as const;
    write(all, { sysctl: "524288" });
    expect((await deploy()).exitCode).toBe(0);
    const { stdout } = await talosmith("get", "mc", "v1alpha1", "-n", boxes.get("rack-d")?.address ?? "", "-o", "yaml");
    expect(stdout).toContain("524288");
    expect(await plan()).toBe(0);
  });

  test.skipIf(missing)("machines that go from the file leave the cluster and wait in maintenance mode", async () => {
    write({ "rack-a": "controlplane", "rack-c": "controlplane" }, { sysctl: "524288" });
    const asked = await talosmith("deploy", "rack");
    expect(asked.stdout + asked.stderr).toContain("rack-b");
    expect(asked.stderr).toContain("Add --yes to go ahead without asking.");
    expect(await nodes()).toContain("rack-b");
    const { exitCode, stderr } = await deploy();
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(await nodes()).toEqual(["rack-a", "rack-c"]);
    await expect.poll(modes).toMatchObject({ "box-rack-b": "maintenance", "box-rack-d": "maintenance" });
    expect(await plan()).toBe(0);
  });

  test.skipIf(missing)("destroy resets the machines and leaves them where they are", async () => {
    const { stderr } = await talosmith("destroy", "rack", "--auto-approve");
    expect(stderr).toContain("rack is destroyed");
    await expect
      .poll(modes)
      .toEqual(Object.fromEntries([...boxes.keys()].map((name) => [`box-${name}`, "maintenance"])));
  });
});
