// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { defaultPolicy } from "../../../engine/index.ts";
import { parseEnvironment } from "../../../model/index.ts";
import { policyOf } from "../../../provider/types/cluster/spec.ts";
import { windowNotice } from "../../../workspace/rollout.ts";

describe("how careful the engine is", () => {
  test("is the engine's default where the provider's configuration says nothing", () => {
    expect(policyOf({ rollout: null })).toEqual(defaultPolicy);
  });

  test("is the same through Terraform and through the helper", () => {
    const text = `
infrastructure: { kind: simulated }
controlPlane: { count: 1 }
rollout:
  maxUnavailable: 25%
  drainTimeout: 10m
  stuckPods: leave
  revertFailedUpgrades: false
  healthLevel: api
  gates: [{ command: [./check.sh, now] }, { url: "https://example.com/well", timeout: 30s }]
  windows: [{ schedule: "0 22 * * 5", duration: 4h, timeZone: Europe/Berlin }, { schedule: "0 1 * * *", duration: 30m }]
  canary: { machines: 2, soak: 10m, afterwards: continue }
`;
    const environment = parseEnvironment("lab", (path) => (path === "environments/lab.yaml" ? text : undefined));
    const rollout = {
      max_unavailable: "25%",
      drain_timeout: "600s",
      stuck_pods: "leave",
      revert_failed_upgrades: false,
      health_level: "api",
      gates: [
        { command: ["./check.sh", "now"], url: null, timeout: null },
        { command: null, url: "https://example.com/well", timeout: "30s" },
      ],
      windows: [
        { schedule: "0 22 * * 5", duration: "4h", time_zone: "Europe/Berlin" },
        { schedule: "0 1 * * *", duration: "30m", time_zone: null },
      ],
      canary: { machines: 2, soak: "10m", afterwards: "continue" },
    };
    expect(policyOf({ rollout })).toEqual(environment.rollout);
    expect(policyOf({ rollout: { ...rollout, max_unavailable: "3" } }).maxUnavailable).toBe(3);
  });

  test("is told beside a plan when it is not the time for it", () => {
    const windows = [{ schedule: "0 22 * * *", duration: 3_600_000, timeZone: "UTC" }];
    const rollout = {
      ...parseEnvironment("lab", (path) =>
        path === "environments/lab.yaml"
          ? "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\n"
          : undefined,
      ).rollout,
      windows,
    };
    const sentences = { gate: "start w-1 only when a maintenance window is open", drain: "drain w-1" };
    const notice = (at: string, kind: "gate" | "drain") => windowNotice({ rollout }, [sentences[kind]], new Date(at));
    expect(notice("2026-01-01T12:00:00Z", "gate")).toMatch(/No maintenance window.* 2026-01-01T22:00:00\.000Z/);
    expect(notice("2026-01-01T22:30:00Z", "gate")).toBe("A maintenance window is open until 2026-01-01T23:00:00.000Z.");
    expect(notice("2026-01-01T12:00:00Z", "drain")).toBeUndefined();
  });
});
