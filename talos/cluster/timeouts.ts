// SPDX-License-Identifier: Apache-2.0
import type { StepKind } from "./step.ts";

/** Milliseconds. A step that takes longer fails and says what it was waiting for. */
export interface Timeouts {
  /** Machines that do not answer yet. @default 10 minutes */
  readonly reachable: number;
  /** Every kind of step. @default 15 minutes, which an installation over a slow line needs */
  readonly step: number;
  /** Single kinds that differ. @default drain: 5 minutes */
  readonly steps: Partial<Readonly<Record<StepKind, number>>>;
  /** All health checks together at the end. @default 15 minutes */
  readonly health: number;
  /** After this long without an answer a machine that was told to reset counts as wiped. @default 1 minute */
  readonly resetSilence: number;
}

const minute = 60_000;

export const defaultTimeouts: Timeouts = {
  reachable: 10 * minute,
  step: 15 * minute,
  steps: { drain: 5 * minute },
  health: 15 * minute,
  resetSilence: minute,
};
