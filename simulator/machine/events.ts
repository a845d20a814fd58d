// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import type { EventBody, Machine, MachineEvent } from "./world.ts";

/** Real machines keep 1000 events; a simulated one keeps fewer because each is written to disk. */
const kept = 300;

/** The machine with one more event in its history. */
export function emit(machine: Machine, now: number, body: EventBody, actor?: string): Machine {
  const event: MachineEvent = given({ number: machine.eventCount, at: now, body, actor });
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
