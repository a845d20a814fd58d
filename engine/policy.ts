// SPDX-License-Identifier: Apache-2.0
import { type Rollout, rolloutSettings, withDefaults } from "../model/settings/index.ts";
import { TalosError } from "../talos/errors.ts";

export type { Canary, Gate, Window } from "../model/settings/index.ts";

/** How careful a rollout is, and how much of a cluster must be healthy before the work counts as done. */
export type Policy = Rollout;

export const defaultPolicy: Policy = withDefaults(rolloutSettings, {});

/** False where Kubernetes cannot run at all, such as Talos in a container: then nothing waits for it. */
export function usesKubernetes({ healthLevel }: Pick<Policy, "healthLevel">): boolean {
  return healthLevel !== "talos";
}

/** `maxUnavailable` for this many workers. */
export function unavailableLimit({ maxUnavailable }: Pick<Policy, "maxUnavailable">, workers: number): number {
  const limit =
    typeof maxUnavailable === "number"
      ? maxUnavailable
      : Math.max(1, Math.floor((workers * Number(maxUnavailable.slice(0, -1))) / 100));
  if (Number.isInteger(limit) && limit >= 1) return limit;
  throw new TalosError("invalid-input", `maxUnavailable is ${maxUnavailable}`, {
    hint: 'Give a whole number from 1 on, or a share such as "25%".',
  });
}
