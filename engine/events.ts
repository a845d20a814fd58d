// SPDX-License-Identifier: Apache-2.0
import type { Step } from "./step.ts";

/** What the engine tells while it works. `message` is a sentence for a person and holds no secret. */
export interface ClusterEvent {
  readonly type:
    | "observed"
    | "planned"
    | "step-started"
    | "step-finished"
    | "step-failed"
    /** A condition that is not met yet; at least every five seconds while the engine waits. */
    | "waiting"
    | "warning"
    | "healthy";
  readonly at: Date;
  readonly message: string;
  readonly machine?: string;
  readonly step?: Step;
  /** With `planned`: everything that will be done. */
  readonly steps?: readonly Step[];
}

export type EventListener = (event: ClusterEvent) => void;
