// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import {
  type DesiredCluster,
  type MachineState,
  type ObservedCluster,
  observe,
  preflight,
} from "../../../talos/cluster/index.ts";
import { lab, wish } from "./fixture.ts";

async function running(before = wish()): Promise<ObservedCluster> {
  const { world, apply } = lab(before);
  await apply(before);
  return observe(before, { machines: world.port() });
}

function withState(
  observed: ObservedCluster,
  name: string,
  change: (state: MachineState) => MachineState,
): ObservedCluster {
  const machines = new Map(observed.machines);
  const machine = machines.get(name);
  if (machine !== undefined) machines.set(name, { ...machine, state: change(machine.state) });
  return { ...observed, machines };
}

const empty = async (desired: DesiredCluster) => observe(desired, { machines: lab(desired).world.port() });
const errors = (desired: DesiredCluster, observed: ObservedCluster) =>
  preflight(desired, observed).filter(({ severity }) => severity === "error");

describe("before the first change", () => {
  test("a good cluster has nothing in its way", async () => {
    expect(preflight(wish(), await empty(wish()))).toEqual([]);
    expect(preflight(wish({ sysctl: "2" }), await running())).toEqual([]);
  });

  test("an even number of control planes is a warning, never an error", async () => {
    const desired = wish({ controlPlanes: ["cp-1", "cp-2"] });
    expect(preflight(desired, await empty(desired))).toMatchObject([
      { severity: "warning", message: "2 control planes survive no more failures than 1" },
    ]);
  });

  test("Kubernetes must be one that this Talos supports", async () => {
    const desired = wish({ kubernetes: "1.30.0" });
    expect(errors(desired, await empty(desired))).toMatchObject([
      { message: expect.stringContaining("too old to be used with Talos 1.13.9") },
    ]);
  });

  test("a machine of another cluster is refused", async () => {
    const observed = withState(await empty(wish()), "w-1", () => ({
      kind: "foreign",
      reason: "it asks for a client certificate",
    }));
    expect(errors(wish(), observed)).toMatchObject([
      { machine: "w-1", message: expect.stringContaining("belongs to another cluster") },
    ]);
  });

  test("an empty machine must show the fingerprint and have the disk", async () => {
    const desired = wish();
    const machines = desired.machines.map((machine) =>
      machine.name === "w-1" ? { ...machine, installDisk: "/dev/sda" } : machine,
    );
    const observed = withState(await empty(desired), "w-1", () => ({
      kind: "maintenance",
      fingerprint: "another",
      disks: ["/dev/vda"],
    }));
    expect(errors({ ...desired, machines }, observed).map(({ message }) => message)).toEqual([
      "w-1 shows the fingerprint another, not print-w-1",
      "w-1 has no disk /dev/sda; it has /dev/vda",
    ]);
  });

  test.each([
    ["Talos is never downgraded", "v1.14.0", /never downgraded/],
    ["Talos does not skip too many releases", "v1.9.6", /too old to upgrade to Talos 1\.13\.9/],
  ])("%s", async (_name, version, message) => {
    const observed = withState(await running(), "cp-2", (state) =>
      state.kind === "configured" ? { ...state, talosVersion: version } : state,
    );
    expect(errors(wish(), observed)).toMatchObject([{ machine: "cp-2", message: expect.stringMatching(message) }]);
  });

  test.each([
    ["1.36.3", "1.35.4", /never downgraded to 1\.35\.4/],
    ["1.34.1", "1.36.3", /unsupported upgrade path 1\.34->1\.36/],
  ])("Kubernetes does not go from %s to %s", async (from, to, message) => {
    const found = errors(wish({ kubernetes: to }), await running(wish({ kubernetes: from })));
    expect(found.length).toBeGreaterThan(0);
    for (const finding of found) expect(finding.message).toMatch(message);
  });

  test("nobody may leave whom etcd needs", async () => {
    const before = wish();
    const { world, apply } = lab(before);
    await apply(before);
    world.lose("cp-3");
    const desired = wish({ controlPlanes: ["cp-1", "cp-3"], leaving: ["cp-2"] });
    const found = errors(desired, await observe(desired, { machines: world.port() }));
    expect(found).toMatchObject([
      { machine: "cp-2", message: expect.stringMatching(/cannot leave: of 3 etcd members 2 are healthy/) },
    ]);
  });

  test("with two members none can be rebooted", async () => {
    const before = wish({ controlPlanes: ["cp-1", "cp-2"] });
    const found = errors(wish({ controlPlanes: ["cp-1", "cp-2"], file: "b" }), await running(before));
    expect(found.map(({ machine }) => machine)).toEqual(["cp-1", "cp-2"]);
  });

  test("a running machine does not change its role", async () => {
    const observed = await running(wish({ workers: ["x"] }));
    const found = errors(wish({ controlPlanes: ["cp-1", "cp-2", "cp-3", "x"], workers: [] }), observed);
    expect(found).toMatchObject([
      { machine: "x", message: "x is a worker, and a running machine cannot become a controlplane" },
    ]);
  });

  test("a machine that leaves without answering is told not to be wiped", async () => {
    const { world, apply } = lab(wish());
    await apply(wish());
    world.lose("w-2");
    const desired = wish({ workers: ["w-1"], leaving: ["w-2"] });
    const found = preflight(desired, await observe(desired, { machines: world.port() }));
    expect(found).toMatchObject([
      { severity: "warning", machine: "w-2", message: expect.stringContaining("its disk is not wiped") },
    ]);
  });

  test("a lost quorum is named as such", async () => {
    const before = wish();
    const { world, apply } = lab(before);
    await apply(before);
    world.replace("cp-1");
    world.replace("cp-2");
    const found = errors(before, await observe(before, { machines: world.port() }));
    expect(found).toMatchObject([{ message: "etcd has lost its quorum: cp-3 still have data, cp-1, cp-2 are empty" }]);
  });

  test("members that nobody knows are told of", async () => {
    const { world, apply } = lab(wish());
    await apply(wish());
    const desired = wish({ controlPlanes: ["cp-1", "cp-2"] });
    const found = preflight(desired, await observe(desired, { machines: world.port() }));
    expect(found.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/etcd has a member cp-3 \(\w+\) that is not in/),
    );
  });
});
