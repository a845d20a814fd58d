// SPDX-License-Identifier: Apache-2.0
import { type EngineOptions, type Policy, type Step, windowAt } from "../engine/index.ts";
import type { Environment } from "../model/index.ts";

/** What a command may say beside the environment's file. */
export type HelperPolicy = Partial<Pick<Policy, "kubernetes">>;

/** How careful the engine is with the machines of an environment. */
export function engineCare(
  { rollout }: Pick<Environment, "rollout">,
  given: HelperPolicy = {},
): Pick<EngineOptions, "policy"> {
  return { policy: { ...rollout, kubernetes: true, ...given } };
}

/** For a cluster that is down anyway: neither windows nor gates nor a pause keep it from coming back. */
export function emergencyPolicy(environment: Pick<Environment, "rollout">): Policy {
  const { canary: _canary, ...policy } = engineCare(environment).policy;
  return { ...policy, windows: [], gates: [] };
}

/** What a plan tells beside its steps: that it is not the time for them. */
export function windowNotice(
  { rollout }: Pick<Environment, "rollout">,
  steps: readonly Pick<Step, "kind">[],
  now: Date,
): string | undefined {
  if (rollout.windows.length === 0 || !steps.some(({ kind }) => kind === "gate")) return undefined;
  const state = windowAt(rollout.windows, now);
  if (state.open) return `A maintenance window is open until ${state.until.toISOString()}.`;
  const next = state.opens === undefined ? "None opens again" : `The next one opens at ${state.opens.toISOString()}`;
  return `No maintenance window is open now, so nothing would be begun on machines in use. ${next}.`;
}
