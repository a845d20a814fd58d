// SPDX-License-Identifier: Apache-2.0
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Machine } from "../../simulator/index.ts";
import { configFor, Laboratory, unary } from "./laboratory.ts";

let lab: Laboratory;
let machines: Machine[];
let shared: string;

beforeAll(async () => {
  lab = await Laboratory.open("virtual-ip");
  machines = await Promise.all(["cp-1", "cp-2", "cp-3"].map((name) => lab.machine(name)));
  shared = (machines[0]?.address ?? "").replace(/\d+$/, "250");
  const patch = `apiVersion: v1alpha1\nkind: Layer2VIPConfig\nname: ${shared}\nlink: eth0\n`;
  for (const machine of machines) await lab.apply(machine, configFor("controlplane", shared, machine.name, [patch]));
  const first = machines[0] as Machine;
  await lab.simulation.until((world) => world.machines[first.id]?.services.cri?.health === "healthy");
  await lab.settled();
  await unary((done) =>
    lab.machineApi(first.address).bootstrap({ recoverEtcd: false, recoverSkipHashCheck: false }, done),
  );
  await lab.ready(...machines);
});
afterAll(() => lab.close());

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, shared, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

async function owner(): Promise<string | undefined> {
  await lab.settled();
  const held = Object.values(lab.simulation.world.clusters)[0]?.virtualIp;
  return held === undefined ? undefined : lab.simulation.world.machines[held.owner]?.name;
}

async function eventually(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 8_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error("never");
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

describe("the shared address", () => {
  it("is answered by one control plane, for both APIs", async () => {
    await eventually(async () => (await answers(6_443)) && (await answers(50_000)));
    expect(await owner()).toMatch(/^cp-/);
  });

  it("moves when its owner loses power", async () => {
    const before = await owner();
    lab.simulator.setPower(machines.find((machine) => machine.name === before)?.id ?? "", false);
    await eventually(async () => (await owner()) !== before && (await answers(6_443)));
    expect(await owner()).not.toBe(before);
    const version = await unary((done) => lab.machineApi(shared).version({}, done));
    expect(version).toMatchObject({ messages: [{ version: { tag: "v1.13.9" } }] });
  });

  it("is gone without a quorum", async () => {
    const holder = await owner();
    lab.simulator.setPower(machines.find((machine) => machine.name === holder)?.id ?? "", false);
    await eventually(async () => (await owner()) === undefined && !(await answers(6_443)));
    expect(await answers(50_000)).toBe(false);
  });
});
