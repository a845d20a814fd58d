// SPDX-License-Identifier: Apache-2.0
import { type Policy, windowAt } from "../engine/index.ts";
import type { Environment } from "../model/index.ts";

/** For a cluster that is down anyway: neither windows nor gates nor a pause keep it from coming back. */
export function emergencyPolicy(environment: Pick<Environment, "rollout">): Policy {
  const { canary: _canary, ...policy } = environment.rollout;
  return { ...policy, windows: [], gates: [] };
}

/** Whether a maintenance window is open, for a plan with steps that need one. */
export function windowNotice(
  { rollout }: Pick<Environment, "rollout">,
  sentences: readonly string[],
  now: Date,
): string | undefined {
  if (rollout.windows.length === 0 || !sentences.some((sentence) => sentence.includes("maintenance window")))
    return undefined;
  const state = windowAt(rollout.windows, now);
  if (state.open) return `A maintenance window is open until ${state.until.toISOString()}.`;
  const next = state.opens === undefined ? "None opens again" : `The next one opens at ${state.opens.toISOString()}`;
  return `No maintenance window is open now, so nothing is started on machines in use. ${next}.`;
}
