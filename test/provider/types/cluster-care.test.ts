// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { engineCare as ofEnvironment } from "../../../cli/helper/rollout.ts";
import { engineCare } from "../../../provider/types/cluster/policy.ts";
import { parseEnvironment } from "../../../talos/environment/index.ts";

describe("how careful the engine is", () => {
  test("is left to the engine where the provider's configuration says nothing", () => {
    expect(engineCare({ rollout: null })).toEqual({ policy: {} });
  });

  test("is the same through Terraform and through the helper", () => {
    const text =
      "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nrollout: { maxUnavailable: 25%, drainTimeout: 10m, stuckPods: leave, revertFailedUpgrades: false, healthLevel: api }\n";
    const environment = parseEnvironment("lab", (path) => (path === "environments/lab.yaml" ? text : undefined));
    const rollout = {
      max_unavailable: "25%",
      drain_timeout: "600s",
      stuck_pods: "leave",
      revert_failed_upgrades: false,
      health_level: "api",
    };
    expect(engineCare({ rollout })).toEqual(ofEnvironment(environment));
    expect(engineCare({ rollout: { ...rollout, max_unavailable: "3" } }).policy?.maxUnavailable).toBe(3);
  });
});
