// SPDX-License-Identifier: Apache-2.0
import type { Policy } from "../../../engine/index.ts";
import { givenIn, rolloutSettings, withDefaults } from "../../../model/settings/index.ts";
import type { ClusterInput } from "./spec.ts";

/** The `rollout` block as the engine takes it. */
export function policyOf({ rollout }: Pick<ClusterInput, "rollout">): Policy {
  return {
    ...withDefaults(rolloutSettings, rollout === null ? {} : givenIn(rolloutSettings, rollout)),
    kubernetes: true,
  };
}
