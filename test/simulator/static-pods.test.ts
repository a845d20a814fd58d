// SPDX-License-Identifier: Apache-2.0
// What happens to the pods of a control plane when their part of the config changes.
import { beforeEach, describe, expect, test } from "vitest";
import type { Machine } from "../../simulator/index.ts";
import { configFor } from "./laboratory.ts";
import { VirtualLaboratory } from "./virtual-laboratory.ts";

const pods = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];

interface Pod {
  readonly status: {
    readonly containerStatuses: readonly [{ readonly ready: boolean; readonly restartCount: number }];
  };
}

describe("the static pods of a control plane", () => {
  let lab: VirtualLaboratory;
  let machine: Machine;
  beforeEach(async () => {
    lab = new VirtualLaboratory();
    const [created] = await lab.cluster(1);
    if (created === undefined) throw new Error("no machine");
    machine = created;
  });

  const shown = () => {
    const [cluster] = Object.values(lab.simulation.world.clusters);
    return pods.map((name) => {
      const pod = cluster?.objects[`pods/kube-system/${name}-cp-1`] as unknown as Pod;
      const [{ ready, restartCount }] = pod.status.containerStatuses;
      return `${name} ${ready ? "ready" : "not ready"} ${restartCount}`;
    });
  };
  const change = async (section: string) => {
    const patch = `cluster: {${section}: {extraArgs: {v: "4"}}}`;
    await lab.apply(machine, configFor("controlplane", machine.address, "cp-1", [patch]));
  };

  test("are replaced by a change of their settings, and ready some time later", async () => {
    expect(shown()).toEqual(pods.map((name) => `${name} ready 0`));
    await change("scheduler");
    await lab.clock.advance(50);
    expect(shown()).toEqual([
      "kube-apiserver ready 0",
      "kube-controller-manager ready 0",
      "kube-scheduler not ready 0",
    ]);
    await lab.clock.advance(1_000);
    expect(shown()).toEqual(pods.map((name) => `${name} ready 0`));
  });

  test("take as long as a fault says", async () => {
    lab.simulator.setFaults(machine.id, [{ kind: "slow-static-pods", milliseconds: 30_000 }]);
    await change("controllerManager");
    await lab.clock.advance(29_000);
    expect(shown()).toContain("kube-controller-manager not ready 0");
    await lab.clock.advance(2_000);
    expect(shown()).toContain("kube-controller-manager ready 0");
  });

  test("that need the API server restart once when it is replaced", async () => {
    await change("apiServer");
    await lab.clock.advance(3_000);
    expect(shown()).toEqual(["kube-apiserver ready 0", "kube-controller-manager ready 1", "kube-scheduler ready 1"]);
  });
});
