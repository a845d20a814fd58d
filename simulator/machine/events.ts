// SPDX-License-Identifier: Apache-2.0
import type { Machine } from "./world.ts";

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

/** Real machines keep 1000 events; a simulated one keeps fewer because each is written to disk. */
const kept = 300;

/** The machine with one more event in its history. */
export function emit(machine: Machine, now: number, body: EventBody, actor?: string): Machine {
  const event: MachineEvent = { number: machine.eventCount, at: now, body, ...(actor === undefined ? {} : { actor }) };
  return {
    ...machine,
    eventCount: machine.eventCount + 1,
    events: [...machine.events.slice(-(kept - 1)), event],
  };
}

/** Several events at once, in order. */
export function emitAll(machine: Machine, now: number, bodies: readonly EventBody[], actor?: string): Machine {
  return bodies.reduce((next, body) => emit(next, now, body, actor), machine);
}
