// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { Code } from "../../talos/api/gen/common/common.ts";
import {
  AddressEvent,
  Event,
  type EventsRequest,
  MachineStatusEvent,
  MachineStatusEvent_MachineStage,
  PhaseEvent,
  PhaseEvent_Action,
  SequenceEvent,
  SequenceEvent_Action,
  ServiceStateEvent,
  ServiceStateEvent_Action,
  TaskEvent,
  TaskEvent_Action,
} from "../../talos/api/gen/machine/events.ts";
import type { MachineServiceService } from "../../talos/api/gen/machine/machine.ts";
import { CallError } from "../machine/call-error.ts";
import type { EventBody, Machine, MachineEvent } from "../machine/world.ts";
import { everyChange, type Handlers } from "./method.ts";

/** The machine's history and what happens next, as talosctl follows it through reboots and upgrades. */
export const eventMethods: Handlers<typeof MachineServiceService> = {
  async *events(call, request) {
    const machine = call.machine();
    if (request.tailSeconds > 0 && (request.tailEvents !== 0 || request.tailId !== "")) {
      throw new CallError(
        "Unknown",
        "WithTailDuration can't be specified at the same time with WithTailEvents or WithTailID",
      );
    }
    // The first message only says that the stream stands.
    yield Event.fromPartial({ data: {}, id: eventId(machine, machine.eventCount, call.simulation.moment.now) });
    let next = firstNumber(machine, request, call.simulation.moment.now);
    for await (const _ of everyChange(call)) {
      const current = call.machine();
      for (const event of current.events) {
        if (event.number < next) continue;
        next = event.number + 1;
        if (request.withActorId === "" || event.actor === request.withActorId) yield encodeEvent(current, event);
      }
    }
  },
};

/** The number of the first event that the caller wants. */
function firstNumber(machine: Machine, request: EventsRequest, now: number): number {
  const { events, eventCount } = machine;
  if (request.tailSeconds > 0) {
    return events.find((event) => event.at >= now - request.tailSeconds * 1_000)?.number ?? eventCount;
  }
  if (request.tailId !== "") {
    const known = events.find((event) => eventId(machine, event.number, event.at) === request.tailId);
    return known === undefined ? (events[0]?.number ?? eventCount) : known.number + 1;
  }
  if (request.tailEvents < 0) return events[0]?.number ?? eventCount;
  return eventCount - request.tailEvents;
}

function encodeEvent(machine: Machine, event: MachineEvent): Event {
  const [name, value] = encodeBody(event.body);
  return Event.fromPartial({
    data: { typeUrl: `talos/runtime/machine.${name}`, value },
    id: eventId(machine, event.number, event.at),
    actorId: event.actor ?? "",
  });
}

const stages: Readonly<Record<string, MachineStatusEvent_MachineStage>> = MachineStatusEvent_MachineStage;

function encodeBody(body: EventBody): [name: string, value: Uint8Array] {
  switch (body.kind) {
    case "sequence": {
      const { sequence, action, error } = body;
      const fault = error === undefined ? {} : { error: { code: Code[error.code], message: error.message } };
      const event = SequenceEvent.fromPartial({ sequence, action: SequenceEvent_Action[action], ...fault });
      return ["SequenceEvent", SequenceEvent.encode(event).finish()];
    }
    case "phase": {
      const event = { phase: body.phase, action: PhaseEvent_Action[body.action] };
      return ["PhaseEvent", PhaseEvent.encode(event).finish()];
    }
    case "task":
      return ["TaskEvent", TaskEvent.encode({ task: body.task, action: TaskEvent_Action[body.action] }).finish()];
    case "service": {
      const action = ServiceStateEvent_Action[body.state.toUpperCase() as keyof typeof ServiceStateEvent_Action];
      const health = { unknown: body.healthy === undefined, healthy: body.healthy ?? false };
      const event = ServiceStateEvent.fromPartial({ service: body.service, action, message: body.message, health });
      return ["ServiceStateEvent", ServiceStateEvent.encode(event).finish()];
    }
    case "status": {
      const stage = stages[body.stage.toUpperCase().replace(" ", "_")] ?? MachineStatusEvent_MachineStage.UNKNOWN;
      const status = { ready: body.ready, unmetConditions: [...body.unmet] };
      return ["MachineStatusEvent", MachineStatusEvent.encode({ stage, status }).finish()];
    }
    case "address": {
      const event = { hostname: body.hostname, addresses: [...body.addresses] };
      return ["AddressEvent", AddressEvent.encode(event).finish()];
    }
  }
}

const alphabet = "0123456789abcdefghijklmnopqrstuv";

/** A sortable id of 20 characters: seconds, the machine, the event's number. */
function eventId(machine: Machine, number: number, at: number): string {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32BE(Math.floor(at / 1_000), 0);
  createHash("sha1").update(machine.id).digest().copy(bytes, 4, 0, 5);
  bytes.writeUIntBE(number % 0x1000000, 9, 3);
  let value = BigInt(`0x${bytes.toString("hex")}`) << 4n;
  let text = "";
  for (let index = 0; index < 20; index += 1) {
    text = alphabet.charAt(Number(value & 31n)) + text;
    value >>= 5n;
  }
  return text;
}
