// SPDX-License-Identifier: Apache-2.0
import { ContainerDriver } from "./gen/common/common.ts";
import {
  MachineStatusEvent,
  PhaseEvent,
  SequenceEvent,
  SequenceEvent_Action,
  ServiceStateEvent,
  TaskEvent,
} from "./gen/machine/events.ts";
import { MachineServiceService as service } from "./gen/machine/machine.ts";
import { MachineText } from "./machine-text.ts";
import { messagesOf } from "./replies.ts";
import type { CallOptions, Transport } from "./transport.ts";

export type MachineEvent =
  | {
      readonly kind: "sequence";
      readonly sequence: string;
      readonly action: "noop" | "start" | "stop";
      readonly error?: string | undefined;
    }
  | { readonly kind: "phase"; readonly phase: string; readonly started: boolean }
  | { readonly kind: "task"; readonly task: string; readonly started: boolean }
  | { readonly kind: "service"; readonly service: string; readonly message: string }
  | { readonly kind: "machine-status"; readonly ready: boolean }
  /** One that we have no use for, by its type. */
  | { readonly kind: "other"; readonly type: string };

export interface EventOptions extends CallOptions {
  /** How many past events come first; -1 for all that the machine remembers. @default 0 */
  readonly tail?: number;
}

export interface LogOptions extends CallOptions {
  readonly follow?: boolean;
  /** @default -1, all */
  readonly tailLines?: number;
  /** Whether it is a container of Kubernetes, not a service of Talos. @default false */
  readonly kubernetes?: boolean;
}

export interface DmesgOptions extends CallOptions {
  readonly follow?: boolean;
  /** Only what comes from now on. @default false */
  readonly tail?: boolean;
}

/** Calls that go on talking: events and logs. */
export function streamCalls(transport: Transport) {
  return {
    async *events(options: EventOptions = {}): AsyncIterable<MachineEvent> {
      const { tail = 0, ...call } = options;
      const request = { tailEvents: tail, tailId: "", tailSeconds: 0, withActorId: "" };
      for await (const event of messagesOf(transport, service.events, request, call)) {
        const type = event.data?.typeUrl ?? "";
        // The first message is an empty greeting.
        if (type === "") continue;
        yield contentOf(type, event.data?.value ?? new Uint8Array());
      }
    },
    async *logs(id: string, options: LogOptions = {}): AsyncIterable<Uint8Array> {
      const { follow = false, tailLines = -1, kubernetes = false, ...call } = options;
      const place = kubernetes
        ? { namespace: "k8s.io", driver: ContainerDriver.CRI }
        : { namespace: "system", driver: ContainerDriver.CONTAINERD };
      const request = { ...place, id, follow, tailLines };
      for await (const { bytes } of messagesOf(transport, service.logs, request, call)) yield bytes;
    },
    /** The kernel's log. */
    async *dmesg(options: DmesgOptions = {}): AsyncIterable<Uint8Array> {
      const { follow = false, tail = false, ...call } = options;
      for await (const { bytes } of messagesOf(transport, service.dmesg, { follow, tail }, call)) yield bytes;
    },
  };
}

/** Whole lines of a log; what a chunk leaves unfinished waits for the next. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncIterable<readonly string[]> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    if (parts.length > 0) yield parts;
  }
  if (rest !== "") yield [rest];
}

export type StreamCalls = ReturnType<typeof streamCalls>;

function contentOf(typeUrl: string, value: Uint8Array): MachineEvent {
  const type = typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
  switch (type) {
    case "machine.SequenceEvent": {
      const { sequence, action, error } = SequenceEvent.decode(new MachineText(value));
      const name =
        action === SequenceEvent_Action.START ? "start" : action === SequenceEvent_Action.STOP ? "stop" : "noop";
      return { kind: "sequence", sequence, action: name, error: error?.message };
    }
    case "machine.PhaseEvent": {
      const { phase, action } = PhaseEvent.decode(new MachineText(value));
      return { kind: "phase", phase, started: action === 0 };
    }
    case "machine.TaskEvent": {
      const { task, action } = TaskEvent.decode(new MachineText(value));
      return { kind: "task", task, started: action === 0 };
    }
    case "machine.ServiceStateEvent": {
      const { service: name, message } = ServiceStateEvent.decode(new MachineText(value));
      return { kind: "service", service: name, message };
    }
    case "machine.MachineStatusEvent": {
      const { status } = MachineStatusEvent.decode(new MachineText(value));
      return { kind: "machine-status", ready: status?.ready ?? false };
    }
    default:
      return { kind: "other", type };
  }
}
