// SPDX-License-Identifier: Apache-2.0
import type { EngineOptions } from "../../talos/cluster/index.ts";
import type { Environment } from "../../talos/environment/index.ts";

/** How careful the engine is with the machines of an environment. */
export function engineCare({ rollout }: Pick<Environment, "rollout">): Pick<EngineOptions, "policy" | "timeouts"> {
  const { drainTimeout, ...policy } = rollout;
  return { policy, timeouts: { steps: { drain: drainTimeout } } };
}
