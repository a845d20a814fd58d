// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { type DesiredCluster, leaveCluster, type Machines, type Policy, withoutConfig } from "../../engine/index.ts";
import { defaultPolicy } from "../../engine/policy.ts";
import { TalosError } from "../../talos/errors.ts";
import { lab, testSecrets, wish } from "./fixture.ts";

/** The neighbours as one knows them who only wants to leave: by name. */
function goodbye(leaving: string, neighbours: readonly string[]): DesiredCluster {
  const desired = wish({ controlPlanes: neighbours, workers: [], leaving: [leaving] });
  return { ...desired, machines: desired.machines.map((machine) => ({ ...machine, ...withoutConfig })) };
}

async function running() {
  const { world, timing, apply } = lab(wish());
  await apply(wish());
  world.log.length = 0;
  const leave = (desired: DesiredCluster, policy: Partial<Policy> = {}) =>
    leaveCluster({
      desired,
      secrets: testSecrets(),
      policy: { ...defaultPolicy, ...policy },
      machines: world.port(),
      timing,
    });
  return { world, leave, timing };
}

const ids = ({ steps }: { steps: readonly { id: string }[] }) => steps.map(({ id }) => id);

describe("a machine leaves", () => {
  test("and nothing else happens, although nothing is known of what the others should be", async () => {
    const { world, leave } = await running();
    expect(ids(await leave(goodbye("w-1", ["cp-1", "cp-2", "cp-3"])))).toEqual([
      "drain/w-1",
      "reset/w-1",
      "delete-node/w-1",
    ]);
    expect(world.violations).toEqual([]);
    expect(ids(await leave(goodbye("cp-2", ["cp-1", "cp-3"])))).toEqual([
      "drain/cp-2",
      "reset/cp-2",
      "delete-node/cp-2",
    ]);
    expect(world.violations).toEqual([]);
    expect(ids(await leave(goodbye("cp-2", ["cp-1", "cp-3"])))).toEqual([]);
  });

  test("while a neighbour is empty: it is not installed, nor is its member removed", async () => {
    const { world, leave } = await running();
    world.replace("cp-3");
    expect(ids(await leave(goodbye("w-1", ["cp-1", "cp-2", "cp-3"])))).toEqual([
      "drain/w-1",
      "reset/w-1",
      "delete-node/w-1",
    ]);
    expect(world.state("cp-3").kind).toBe("maintenance");
  });

  test("while a neighbour is down", async () => {
    const { world, leave } = await running();
    world.lose("cp-3");
    expect(ids(await leave(goodbye("w-1", ["cp-1", "cp-2", "cp-3"])))).toContain("reset/w-1");
  });

  test("with the care of the cluster's rollout: windows, and how long pods may take", async () => {
    const { world, leave, timing } = await running();
    const windows = [{ schedule: "0 3 1 1 *", duration: 60_000, timeZone: "UTC" }];
    await expect(leave(goodbye("w-1", ["cp-1"]), { windows })).rejects.toThrow("outside of the maintenance windows");
    expect(world.log).toEqual([]);
    world.stubborn.add("w-1");
    const started = timing.elapsed();
    await expect(leave(goodbye("w-1", ["cp-1"]), { drainTimeout: 7000 })).rejects.toThrow(/w-1/);
    expect(timing.elapsed() - started).toBeLessThan(60_000);
    expect(ids(await leave(goodbye("w-1", ["cp-1"]), { drainTimeout: 7000, stuckPods: "delete" }))).toContain(
      "reset/w-1",
    );
  });

  test("unless etcd would lose its majority", async () => {
    const { world, leave } = await running();
    world.lose("cp-3");
    await expect(leave(goodbye("cp-2", ["cp-1", "cp-3"]))).rejects.toMatchObject({
      code: "failed-precondition",
      message: expect.stringContaining("cp-2 cannot leave"),
    });
    expect(world.state("cp-2").kind).toBe("configured");
  });

  test("unless no etcd answers and it has data: it may be what the others need to come back", async () => {
    const { world, leave } = await running();
    world.lose("cp-1");
    world.lose("cp-3");
    await expect(leave(goodbye("cp-2", ["cp-1", "cp-3"]))).rejects.toMatchObject({
      code: "failed-precondition",
      message: expect.stringContaining("cp-2 cannot leave: no etcd answers"),
    });
    expect(world.log).toEqual([]);
  });
});

describe("a machine that reads its config from user-data again after its reset", () => {
  test("is wiped once more without a reboot, and silence is enough where that answer is lost", async () => {
    const made = lab(wish());
    await made.apply(wish());
    const { world } = made;
    const port = world.port();
    const resets: boolean[] = [];
    const reset: Machines["reset"] = async ({ name }, { reboot }) => {
      resets.push(reboot);
      // Back with the same config, in a new boot; the second time it goes down before it can answer.
      if (resets.length === 1) world.machine(name).bootId++;
      else {
        world.lose(name);
        throw new TalosError("unavailable", `${name}: error reading from server: EOF`);
      }
    };
    await made.apply(wish({ workers: ["w-1"], leaving: ["w-2"] }), { machines: { ...port, reset } });
    expect(resets).toEqual([true, false]);
    expect(world.node("w-2")).toBeUndefined();
  });
});
