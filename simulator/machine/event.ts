// SPDX-License-Identifier: Apache-2.0

export interface UnmetCondition {
  readonly name: string;
  readonly reason: string;
}

export type EventBody =
  | {
      readonly kind: "sequence";
      readonly sequence: string;
      readonly action: "NOOP" | "START" | "STOP";
      readonly error?: { readonly code: "FATAL" | "LOCKED" | "CANCELED"; readonly message: string };
    }
  | { readonly kind: "phase"; readonly phase: string; readonly action: "START" | "STOP" }
  | { readonly kind: "task"; readonly task: string; readonly action: "START" | "STOP" }
  | {
      readonly kind: "service";
      readonly service: string;
      readonly state: string;
      readonly message: string;
      readonly healthy?: boolean;
    }
  | {
      readonly kind: "status";
      readonly stage: string;
      readonly ready: boolean;
      readonly unmet: readonly UnmetCondition[];
    }
  | { readonly kind: "address"; readonly hostname: string; readonly addresses: readonly string[] };

export interface MachineEvent {
  /** Counts up for the life of the machine. */
  readonly number: number;
  readonly at: number;
  /** The sequence's caller, where there is one. */
  readonly actor?: string;
  readonly body: EventBody;
}
