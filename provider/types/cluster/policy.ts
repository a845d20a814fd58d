// SPDX-License-Identifier: Apache-2.0
import { defaultPolicy, type Gate, type Policy } from "../../../engine/policy.ts";
import { parseDuration } from "../../framework/index.ts";
import type { ClusterInput } from "./spec.ts";

/** The `rollout` block as the engine takes it, with the engine's defaults where it says nothing. */
export function policyOf({ rollout }: Pick<ClusterInput, "rollout">): Policy {
  if (rollout === null) return defaultPolicy;
  const drain = rollout.drain_timeout === null ? undefined : parseDuration(rollout.drain_timeout);
  const { gates, windows, canary } = rollout;
  const { max_unavailable: away, stuck_pods: stuck, revert_failed_upgrades: revert, health_level: level } = rollout;
  return {
    ...defaultPolicy,
    ...(away === null ? {} : { maxUnavailable: away.endsWith("%") ? (away as `${number}%`) : Number(away) }),
    ...(drain === undefined ? {} : { drainTimeout: drain }),
    ...(stuck === null ? {} : { stuckPods: stuck as Policy["stuckPods"] }),
    ...(revert === null ? {} : { revertFailedUpgrades: revert }),
    ...(level === null ? {} : { healthLevel: level as Policy["healthLevel"] }),
    ...(gates === null ? {} : { gates: gates.map(gateOf) }),
    ...(windows === null
      ? {}
      : {
          windows: windows.map(({ schedule, duration, time_zone: timeZone }) => ({
            schedule,
            duration: milliseconds(duration, 0),
            timeZone: timeZone ?? "UTC",
          })),
        }),
    ...(canary === null
      ? {}
      : {
          canary: {
            machines: canary.machines,
            soak: milliseconds(canary.soak, 0),
            afterwards: canary.afterwards === "continue" ? "continue" : "stop",
          },
        }),
  };
}

type Rollout = NonNullable<ClusterInput["rollout"]>;

const gatePatience = 300_000;

function gateOf({ command, url, timeout }: NonNullable<Rollout["gates"]>[number]): Gate {
  const patience = { timeout: milliseconds(timeout, gatePatience) };
  return command === null ? { url: url ?? "", ...patience } : { command, ...patience };
}

function milliseconds(text: string | null, standard: number): number {
  return (text === null ? undefined : parseDuration(text)) ?? standard;
}
