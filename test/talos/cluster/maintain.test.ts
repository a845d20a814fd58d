// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { type Machines, type Maintenance, maintainMachine } from "../../../talos/cluster/index.ts";
import { TalosError } from "../../../talos/errors.ts";
import { type Lab, lab, testSecrets, wish } from "./fixture.ts";
import { killingPort } from "./killing-port.ts";

async function running(): Promise<Lab> {
  const made = lab(wish());
  await made.apply(wish());
  made.world.log.length = 0;
  return made;
}

const maintain = ({ world, timing }: Lab, work: Maintenance, machine: string, machines = world.port()) =>
  maintainMachine(work, machine, { desired: wish(), secrets: testSecrets(), machines, timing });
const deeds = ({ world }: Lab) => [...new Set(world.log)];
const cordoned = ({ world }: Lab) =>
  world.nodes().flatMap(({ name, unschedulable, cordonedByUs }) => (unschedulable ? [{ name, cordonedByUs }] : []));

describe("a person's work on one machine", () => {
  test.each(["w-1", "cp-1"])("reboots %s after its pods have left, and puts it back into service", async (machine) => {
    const made = await running();
    await maintain(made, "reboot", machine);
    expect(deeds(made)).toEqual([`drain ${machine}`, `reboot ${machine}`, `uncordon ${machine}`]);
    expect(made.world.nodes().every(({ ready, unschedulable }) => ready && !unschedulable)).toBe(true);
  });

  test("reboots a machine once, also where the answer to the order is lost", async () => {
    const made = await running();
    const port = made.world.port();
    const machines: Machines = {
      ...port,
      reboot: async (target, signal) => {
        await port.reboot(target, signal);
        throw new TalosError("unavailable", `${target.name}: the connection was cut`);
      },
    };
    await maintain(made, "reboot", "w-1", machines);
    expect(made.world.log.filter((line) => line.startsWith("reboot"))).toEqual(["reboot w-1"]);
  });

  test("a cordon of a person is not ours: a reboot does not lift it, a person does", async () => {
    const made = await running();
    await maintain(made, "cordon", "w-1");
    await maintain(made, "reboot", "w-1");
    expect(cordoned(made)).toEqual([{ name: "w-1", cordonedByUs: false }]);
    await maintain(made, "uncordon", "w-1");
    expect(cordoned(made)).toEqual([]);
  });

  test("a drain leaves the machine cordoned, as kubectl does", async () => {
    const made = await running();
    await maintain(made, "drain", "w-2");
    expect(cordoned(made)).toEqual([{ name: "w-2", cordonedByUs: false }]);
    expect(made.world.machines.get("w-2")?.pods).toBe(0);
  });

  test("a reboot that was killed after the drain is finished by the next apply", async () => {
    const made = await running();
    const watched = killingPort(made.world.port());
    await maintain(made, "reboot", "w-1", watched.port);
    const deed = watched.begun.indexOf("reboot w-1");
    expect(deed).toBeGreaterThan(0);
    for (const machine of made.world.machines.values()) machine.pods = 2;
    const { port } = killingPort(made.world.port(), { deed, when: "before" });
    await expect(maintain(made, "reboot", "w-1", port)).rejects.toThrow();
    expect(cordoned(made)).toEqual([{ name: "w-1", cordonedByUs: true }]);
    await made.apply(wish());
    expect(cordoned(made)).toEqual([]);
  });

  test("a machine that the cluster does not have is refused", async () => {
    await expect(maintain(await running(), "cordon", "w-9")).rejects.toMatchObject({ code: "not-found" });
  });
});
