// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { defaultPolicy } from "../../../engine/index.ts";
import { parseEnvironment } from "../../../model/index.ts";

const load = (rollout: string) => {
  const text = `infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\n${rollout}`;
  return parseEnvironment("lab", (path) => (path === "environments/lab.yaml" ? text : undefined)).rollout;
};

describe("the rollout of an environment", () => {
  test("is as careful as the engine is by itself, when nothing is said", () => {
    expect(load("")).toEqual(defaultPolicy);
  });

  test("takes a number or a share, and a time", () => {
    expect(load("rollout: { maxUnavailable: 25%, drainTimeout: 1h30m, stuckPods: delete }")).toMatchObject({
      maxUnavailable: "25%",
      drainTimeout: 5_400_000,
      stuckPods: "delete",
    });
    expect(load("rollout: { maxUnavailable: 3 }").maxUnavailable).toBe(3);
  });

  test("asks for gates for five minutes, opens windows by UTC, and stops after canaries, unless said otherwise", () => {
    const text = "gates: [{ command: [a] }], windows: [{ schedule: 0 3 * * *, duration: 1h }], canary: { machines: 1 }";
    expect(load(`rollout: { ${text} }`)).toMatchObject({
      gates: [{ command: ["a"], timeout: 300_000 }],
      windows: [{ schedule: "0 3 * * *", duration: 3_600_000, timeZone: "UTC" }],
      canary: { machines: 1, soak: 0, afterwards: "stop" },
    });
  });

  test.each([
    "maxUnavailable: 0",
    "maxUnavailable: 0%",
    "maxUnavailable: 101%",
    "maxUnavailable: some",
    "drainTimeout: 5",
    "stuckPods: kill",
    "batch: 2",
    "gates: [{ command: [] }]",
    "gates: [{ command: [a], url: 'https://example.com' }]",
    "gates: [{ url: ftp://example.com }]",
    "windows: [{ schedule: daily, duration: 1h }]",
    "windows: [{ schedule: 0 3 * * *, duration: 1h, timeZone: Moon }]",
    "canary: { machines: 0 }",
    "canary: { machines: 1, afterwards: hope }",
  ])("refuses %s", (line) => {
    expect(() => load(`rollout: { ${line} }`)).toThrow(/rollout/);
  });
});
