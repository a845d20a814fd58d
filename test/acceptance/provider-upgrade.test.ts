// SPDX-License-Identifier: Apache-2.0
// New versions through the real terraform or tofu, over the simulator.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ClusterWorkspace, clusterConfig } from "../support/cluster-workspace.ts";
import { everything } from "../support/everything.ts";
import { findTools } from "../support/terraform.ts";

const tools = findTools();
test.skipIf(tools.length === 0)("terraform or tofu is there", () => expect(tools).not.toEqual([]));

const plan = ["plan", "-no-color", "-input=false"];
/** Of an image with qemu-guest-agent. */
const schematic = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515";
const rollout = 'rollout = { max_unavailable = "50%", drain_timeout = "2m", stuck_pods = "delete" }';

const wish = {
  machines: { "cp-1": "controlplane" },
  talosVersion: "v1.13.9",
  kubernetesVersion: "1.35.4",
  more: rollout,
} as const;
const newTalos = { ...wish, talosVersion: "v1.13.10" };
const image = `factory.talos.dev/metal-installer/${schematic}:v1.13.10`;
const extended = { ...newTalos, more: `${rollout}\n  install_image = "${image}"` };

describe.skipIf(!everything).each(tools)("a running cluster under $name", (tool) => {
  let workspace: ClusterWorkspace;
  beforeAll(async () => {
    const environment = { TALOSMITH_SIMULATOR_TIME_SCALE: "0.2" };
    workspace = await ClusterWorkspace.open(tool, clusterConfig(wish), { environment });
    await workspace.apply();
  });
  afterAll(() => workspace.dispose());

  test.each([
    ["Talos", newTalos, "upgrade Talos on cp-1 from v1.13.9 to v1.13.10"],
    ["schematic", extended, "install factory.talos.dev/metal-installer/ce4c…:v1.13.10 on cp-1"],
    ["Kubernetes", { ...extended, kubernetesVersion: "1.36.3" }, "1.36.3"],
  ])("gets another %s by one plan that shows its steps", async (_, next, step) => {
    workspace.write("main.tf", clusterConfig(next));
    const { text } = await workspace.ok(plan);
    expect(text).toContain(step);
    expect(text).toContain("1 to change, 0 to destroy");
    await workspace.apply();
    const [machine] = await workspace.simulator().listMachines();
    expect(machine?.talosVersion).toBe("v1.13.10");
  });

  test("is as wished afterwards, and never goes back", async () => {
    expect(await workspace.isSettled()).toBe(true);
    workspace.write("main.tf", clusterConfig(wish));
    expect((await workspace.run(plan)).text).toContain("Versions only go up");
  });
});

describe.skipIf(!everything).each(tools)("a change under $name", (tool) => {
  const machines = { "cp-1": "controlplane", "w-1": "worker" } as const;
  const apply = ["apply", "-auto-approve", "-no-color", "-input=false"];
  const changed = (caution: string) =>
    clusterConfig({ machines, more: `additional_sans = ["talos.example.com"]\n  rollout = { ${caution} }` });
  let workspace: ClusterWorkspace;
  beforeAll(async () => {
    const environment = { TALOSMITH_SIMULATOR_TIME_SCALE: "0.2" };
    workspace = await ClusterWorkspace.open(tool, clusterConfig({ machines }), { environment });
    await workspace.apply();
  });
  afterAll(() => workspace.dispose());

  test("waits for a window, a gate and the canaries, and each apply goes on where the last one stopped", async () => {
    const later = new Date(Date.now() + 12 * 3_600_000);
    const schedule = `${later.getUTCMinutes()} ${later.getUTCHours()} * * *`;
    workspace.write("main.tf", changed(`windows = [{ schedule = "${schedule}", duration = "1m" }]`));
    expect((await workspace.ok(plan)).text).toContain("start cp-1 only when a maintenance window is open");
    const closed = await workspace.run(apply);
    expect(closed.text).toMatch(/outside of the maintenance windows nothing is\s+begun on cp-1/);
    const gate = 'gates = [{ command = ["test", "-e", "opened"], timeout = "2s" }]';
    workspace.write("main.tf", changed(`${gate}, canary = { machines = 1 }`));
    expect((await workspace.run(apply)).text).toContain("gate before cp-1");
    workspace.write("opened", "");
    expect((await workspace.run(apply)).text).toContain("stopped after cp-1");
    await workspace.apply();
    expect(await workspace.isSettled()).toBe(true);
  });
});
