// SPDX-License-Identifier: Apache-2.0
// New versions and another number of control planes through the real terraform or tofu, over the simulator.
import { afterAll, describe, expect, test } from "vitest";
import { ClusterWorkspace, clusterConfig } from "../support/cluster-workspace.ts";
import { everything } from "../support/everything.ts";
import { findTools } from "../support/terraform.ts";

const tools = findTools();
test.skipIf(tools.length === 0)("terraform or tofu is there", () => expect(tools).not.toEqual([]));

const plan = ["plan", "-no-color", "-input=false"];
/** Of an image with qemu-guest-agent. */
const schematic = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515";
const rollout = 'rollout = { max_unavailable = "50%", drain_timeout = "2m", stuck_pods = "delete" }';

describe.each(everything ? tools : tools.slice(0, 1))("a running cluster under $name", (tool) => {
  let workspace: ClusterWorkspace | undefined;
  afterAll(() => workspace?.dispose());

  test("gets a new Talos, another schematic and a new Kubernetes, each by one plan that shows its steps", async () => {
    const machines = { "cp-1": "controlplane", "w-1": "worker" } as const;
    const wish = { machines, talosVersion: "v1.13.9", kubernetesVersion: "1.35.4", more: rollout };
    workspace = await ClusterWorkspace.open(tool, clusterConfig(wish));
    await workspace.apply();
    const versions = async () => (await workspace?.simulator().listMachines())?.map((each) => each.talosVersion);
    const change = async (next: Parameters<typeof clusterConfig>[0], ...steps: readonly string[]) => {
      workspace?.write("main.tf", clusterConfig(next));
      const { text } = (await workspace?.ok(plan)) ?? { text: "" };
      for (const step of steps) expect(text).toContain(step);
      expect(text).toContain("1 to change, 0 to destroy");
      await workspace?.apply();
      expect(await workspace?.isSettled()).toBe(true);
    };

    const newTalos = { ...wish, talosVersion: "v1.13.10" };
    await change(newTalos, "upgrade Talos on cp-1 from v1.13.9 to v1.13.10", "upgrade Talos on w-1 from v1.13.9");
    expect(await versions()).toEqual(["v1.13.10", "v1.13.10"]);

    const image = `install_image = "factory.talos.dev/metal-installer/${schematic}:v1.13.10"`;
    const extended = { ...newTalos, more: `${rollout}\n  ${image}` };
    await change(extended, `fetch factory.talos.dev/metal-installer/${schematic}:v1.13.10 to cp-1`);

    await change({ ...extended, kubernetesVersion: "1.36.3" }, "1.36.3");

    // The way back is refused at plan.
    workspace.write("main.tf", clusterConfig(wish));
    expect((await workspace.run(plan)).text).toContain("Versions only go up");
  });
});
