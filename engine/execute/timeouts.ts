// SPDX-License-Identifier: Apache-2.0

/** Milliseconds. A step that takes longer fails and says what it was waiting for. */
export interface Timeouts {
  /** Machines that do not answer yet. @default 10 minutes */
  readonly reachable: number;
  /** Every step but a drain, for which the policy has a time. @default 15 minutes, which an installation over a slow line needs */
  readonly step: number;
  /** All health checks together at the end. @default 15 minutes */
  readonly health: number;
  /** After this long without an answer a machine that was told to reset counts as wiped. @default 1 minute */
  readonly resetSilence: number;
}

const minute = 60_000;

export const defaultTimeouts: Timeouts = {
  reachable: 10 * minute,
  step: 15 * minute,
  health: 15 * minute,
  resetSilence: minute,
};
