// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import {
  type EngineOptions,
  type Machines,
  type Maintenance,
  maintainMachine,
  type Policy,
} from "../../engine/index.ts";
import { defaultPolicy } from "../../engine/policy.ts";
import { TalosError } from "../../talos/errors.ts";
import { type Lab, lab, testSecrets, wish } from "./fixture.ts";
import { killingPort } from "./killing-port.ts";

async function running(): Promise<Lab> {
  const made = lab(wish());
  await made.apply(wish());
  made.world.log.length = 0;
  return made;
}

const maintain = (
  { world, timing }: Lab,
  work: Maintenance,
  machine: string,
  machines = world.port(),
  options: Partial<EngineOptions> = {},
) =>
  maintainMachine(work, machine, {
    desired: wish(),
    secrets: testSecrets(),
    policy: defaultPolicy,
    machines,
    timing,
    ...options,
  });
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

  const closed: Policy["windows"] = [{ schedule: "0 3 1 1 *", duration: 60_000, timeZone: "UTC" }];
  const gates: Policy["gates"] = [{ command: ["ask"], timeout: 60_000 }];

  test.each(["reboot", "drain"] as const)("a %s waits for the windows and gates of a rollout", async (work) => {
    const made = await running();
    const options = { policy: { ...defaultPolicy, windows: closed } };
    await expect(maintain(made, work, "w-1", made.world.port(), options)).rejects.toMatchObject({
      code: "failed-precondition",
      message: expect.stringContaining("outside of the maintenance windows nothing is begun on w-1"),
    });
    const shut = { policy: { ...defaultPolicy, gates }, checkGate: async () => "alerts fire" };
    await expect(maintain(made, work, "w-1", made.world.port(), shut)).rejects.toThrow(
      /gate before w-1: .*alerts fire/,
    );
    expect(made.world.log).toEqual([]);
    const asked: string[] = [];
    const checkGate = async (_: unknown, { machine }: { machine: string }) => void asked.push(machine);
    await maintain(made, work, "w-1", made.world.port(), { policy: { ...defaultPolicy, gates }, checkGate });
    expect(asked).toEqual(["w-1"]);
  });

  test("an uncordon and a cordon wait for none: they take no pod away", async () => {
    const made = await running();
    const options = { policy: { ...defaultPolicy, windows: closed, gates }, checkGate: async () => "alerts fire" };
    await maintain(made, "cordon", "w-1", made.world.port(), options);
    await maintain(made, "uncordon", "w-1", made.world.port(), options);
    expect(cordoned(made)).toEqual([]);
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
