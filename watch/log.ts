// SPDX-License-Identifier: Apache-2.0

/** One thing worth telling. `message` is a sentence for a person and holds no secret. */
export interface LogEntry {
  readonly level: "info" | "warning" | "error";
  readonly event:
    | "started"
    | "stopped"
    | "leading"
    | "following"
    | "environment"
    | "condition"
    | "drift"
    | "repair"
    | "step"
    | "backup"
    | "fault";
  readonly environment?: string;
  readonly machine?: string;
  readonly message: string;
}

export type Log = (entry: LogEntry) => void;
