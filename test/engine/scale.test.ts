// SPDX-License-Identifier: Apache-2.0
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { observe, talosMachines } from "../../engine/index.ts";
import type { Fault } from "../../simulator/control/index.ts";
import { testSecrets } from "./fixture.ts";
import { type SimulatedLab, simulatedLab } from "./simulated-cluster.ts";

describe("control planes that come and go, over real sockets, with trouble in the middle", () => {
  let lab: SimulatedLab;
  const idOf = async (name: string) =>
    (await lab.simulator.listMachines()).find((machine) => machine.name === name)?.id ?? "";
  const trouble = async (name: string, ...faults: Fault[]) => lab.simulator.setFaults(await idOf(name), faults);
  const timeouts = { step: 60_000, reachable: 20_000, health: 60_000 };
  const apply = async (names: readonly string[], leaving: readonly string[] = []) =>
    lab.apply(await lab.desired(names, { leaving }), { timeouts });

  /** Who etcd and Kubernetes think is there. */
  async function members(names: readonly string[]) {
    const desired = await lab.desired(names);
    const machines = talosMachines({ desired, secrets: testSecrets() });
    try {
      const { machines: seen, kubernetes } = await observe(desired, { machines });
      const state = seen.get("cp-1")?.state;
      const etcd = state?.kind === "configured" ? (state.etcd?.members ?? []) : [];
      const nodes = kubernetes.kind === "reachable" ? kubernetes.nodes.map(({ name }) => name) : [];
      return { etcd: etcd.map(({ hostname }) => hostname).sort(), nodes: nodes.sort() };
    } finally {
      machines.close();
    }
  }

  beforeAll(async () => {
    lab = await simulatedLab("scale");
    for (const name of ["cp-1", "cp-2", "cp-3", "cp-4", "cp-5", "w-1"]) await lab.create(name);
  });
  afterAll(() => lab.end());

  test("one becomes three, while one of the new ones is silent for a while", async () => {
    await apply(["cp-1", "w-1"]);
    await trouble("cp-2", { kind: "half-open", until: Date.now() + 700 });
    await apply(["cp-1", "cp-2", "cp-3", "w-1"]);
    const three = ["cp-1", "cp-2", "cp-3"];
    expect(await members(three)).toEqual({ etcd: three, nodes: [...three, "w-1"] });
  });

  test("three become five, while one of the new ones loses power with its config in hand", async () => {
    await trouble("cp-4", { kind: "crash", method: "ApplyConfiguration", when: "after", times: 1 });
    const five = ["cp-1", "cp-2", "cp-3", "cp-4", "cp-5"];
    const run = apply([...five, "w-1"]);
    await expect
      .poll(async () => (await lab.simulator.getMachine(await idOf("cp-4")))?.stage, { timeout: 30_000 })
      .toMatch(/off|down/);
    await lab.simulator.setPower(await idOf("cp-4"), true);
    await run;
    expect((await members(five)).etcd).toEqual(five);
  });

  test("five become three, one of the leaving being dead: it is forgotten, the other leaves whole", async () => {
    await lab.simulator.setPower(await idOf("cp-5"), false);
    const three = ["cp-1", "cp-2", "cp-3"];
    const { steps } = await apply([...three, "w-1"], ["cp-4", "cp-5"]);
    const ids = steps.map(({ id }) => id);
    expect(ids[0]).toMatch(/^remove-etcd-member\/cp-5\//);
    expect(ids).toEqual(expect.arrayContaining(["delete-node/cp-5", "reset/cp-4", "delete-node/cp-4"]));
    expect(ids).not.toContain("reset/cp-5");
    expect(await members(three)).toEqual({ etcd: three, nodes: [...three, "w-1"] });
    expect((await lab.simulator.getMachine(await idOf("cp-4")))?.stage).toBe("maintenance");
    expect((await apply([...three, "w-1"])).steps).toEqual([]);
  });

  test("a dead one is replaced: its stale member goes first, then the new machine joins", async () => {
    await lab.simulator.deleteMachine(await idOf("cp-3"));
    await lab.create("cp-3");
    const three = ["cp-1", "cp-2", "cp-3"];
    const ids = (await apply([...three, "w-1"])).steps.map(({ id }) => id);
    const order = ["remove-etcd-member/cp-3", "apply-config/cp-3", "join-etcd/cp-3"].map((start) =>
      ids.findIndex((id) => id.startsWith(start)),
    );
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(order[0]).toBeGreaterThanOrEqual(0);
    expect(await members(three)).toEqual({ etcd: three, nodes: [...three, "w-1"] });
  });
});
