// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { type DesiredCluster, destroyCluster } from "../../engine/index.ts";
import { defaultPolicy } from "../../engine/policy.ts";
import { lab, testSecrets, wish } from "./fixture.ts";

const withMeta = (desired: DesiredCluster, meta: Readonly<Record<string, string>>): DesiredCluster => ({
  ...desired,
  machines: desired.machines.map((machine) => (machine.name === "w-1" ? { ...machine, meta } : machine)),
});

describe("the META of a machine", () => {
  const small = wish({ controlPlanes: ["cp-1"], workers: ["w-1"] });

  test("is written once the machine has its config, and a second run finds nothing to do", async () => {
    const desired = withMeta(small, { "12": "rack 4", "10": "addresses: []\n" });
    const { world, apply } = lab(desired);
    const { steps } = await apply(desired);
    expect(steps.find(({ kind }) => kind === "write-meta")).toMatchObject({
      sentence: "write META keys 10, 12 on w-1",
      after: ["apply-config/w-1"],
    });
    expect(world.log.filter((line) => line.startsWith("meta"))).toEqual(["meta w-1 10", "meta w-1 12"]);
    expect((await apply(desired)).steps).toEqual([]);
  });

  test("is changed and taken away key by key, without touching anything else", async () => {
    const desired = withMeta(small, { "12": "rack 4", "13": "north" });
    const { world, apply } = lab(desired);
    await apply(desired);
    world.log.length = 0;
    const { steps } = await apply(withMeta(small, { "12": "rack 5", "13": "" }));
    expect(steps.map(({ id }) => id)).toEqual(["write-meta/w-1"]);
    expect(world.log).toEqual(["meta w-1 12", "meta w-1 13"]);
    expect((await apply(withMeta(small, { "12": "rack 5", "13": "" }))).steps).toEqual([]);
  });

  test("goes with a reset", async () => {
    const desired = withMeta(small, { "12": "rack 4" });
    const { world, apply, timing } = lab(desired);
    await apply(desired);
    world.destroying = true;
    await destroyCluster({ desired, secrets: testSecrets(), policy: defaultPolicy, machines: world.port(), timing });
    expect(world.machines.get("w-1")?.meta).toEqual({});
  });
});
