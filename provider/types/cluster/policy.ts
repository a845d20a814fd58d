// SPDX-License-Identifier: Apache-2.0
import type { EngineOptions, Policy } from "../../../talos/cluster/index.ts";
import { parseDuration } from "../../framework/index.ts";
import type { ClusterInput } from "./spec.ts";

/** The `rollout` block as the engine takes it; what it does not say is left to the engine. */
export function engineCare({ rollout }: Pick<ClusterInput, "rollout">): Pick<EngineOptions, "policy" | "timeouts"> {
  const drain = rollout?.drain_timeout == null ? undefined : parseDuration(rollout.drain_timeout);
  return { policy: policyOf({ rollout }), ...(drain === undefined ? {} : { timeouts: { steps: { drain } } }) };
}

export function policyOf({ rollout }: Pick<ClusterInput, "rollout">): Partial<Policy> {
  if (rollout === null) return {};
  const { max_unavailable: away, stuck_pods: stuck, revert_failed_upgrades: revert, health_level: level } = rollout;
  return {
    ...(away === null ? {} : { maxUnavailable: away.endsWith("%") ? (away as `${number}%`) : Number(away) }),
    ...(stuck === null ? {} : { stuckPods: stuck as Policy["stuckPods"] }),
    ...(revert === null ? {} : { revertFailedUpgrades: revert }),
    ...(level === null ? {} : { healthLevel: level as Policy["healthLevel"] }),
  };
}
