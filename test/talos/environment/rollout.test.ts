// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { defaultPolicy, defaultTimeouts } from "../../../talos/cluster/index.ts";
import { parseEnvironment } from "../../../talos/environment/index.ts";

const load = (rollout: string) => {
  const text = `infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\n${rollout}`;
  return parseEnvironment("lab", (path) => (path === "environments/lab.yaml" ? text : undefined)).rollout;
};

describe("the rollout of an environment", () => {
  test("is as careful as the engine is by itself, when nothing is said", () => {
    const { drainTimeout, ...policy } = load("");
    const { kubernetes: _, ...usual } = defaultPolicy;
    expect(policy).toEqual(usual);
    expect(drainTimeout).toBe(defaultTimeouts.steps.drain);
  });

  test("takes a number or a share, and a time", () => {
    expect(load("rollout: { maxUnavailable: 25%, drainTimeout: 1h30m, stuckPods: delete }")).toMatchObject({
      maxUnavailable: "25%",
      drainTimeout: 5_400_000,
      stuckPods: "delete",
    });
    expect(load("rollout: { maxUnavailable: 3 }").maxUnavailable).toBe(3);
  });

  test.each([
    "maxUnavailable: 0",
    "maxUnavailable: 0%",
    "maxUnavailable: 101%",
    "maxUnavailable: some",
    "drainTimeout: 5",
    "stuckPods: kill",
    "batch: 2",
  ])("refuses %s", (line) => {
    expect(() => load(`rollout: { ${line} }`)).toThrow(/rollout/);
  });
});
