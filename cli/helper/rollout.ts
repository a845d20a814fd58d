// SPDX-License-Identifier: Apache-2.0
import type { EngineOptions, Policy } from "../../talos/cluster/index.ts";
import type { Environment } from "../../talos/environment/index.ts";

/** What a command may say beside the environment's file. */
export type HelperPolicy = Partial<Pick<Policy, "kubernetes">>;

/** How careful the engine is with the machines of an environment. */
export function engineCare(
  { rollout }: Pick<Environment, "rollout">,
  given: HelperPolicy = {},
): Pick<EngineOptions, "policy" | "timeouts"> {
  const { drainTimeout, ...policy } = rollout;
  return { policy: { ...policy, ...given }, timeouts: { steps: { drain: drainTimeout } } };
}
