// SPDX-License-Identifier: Apache-2.0
import { ClusterServiceService as cluster } from "./gen/cluster/cluster.ts";
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

interface EventBase {
  readonly id: string;
  /** The work that caused it, as returned by reboot, reset and upgrade. */
  readonly actorId: string;
}

export type MachineEvent = EventBase &
  (
    | {
        readonly kind: "sequence";
        readonly sequence: string;
        readonly action: "noop" | "start" | "stop";
        readonly error?: string | undefined;
      }
    | { readonly kind: "phase"; readonly phase: string; readonly started: boolean }
    | { readonly kind: "task"; readonly task: string; readonly started: boolean }
    | { readonly kind: "service"; readonly service: string; readonly message: string }
    | { readonly kind: "machine-status"; readonly stage: number; readonly ready: boolean }
    /** One that we have no use for, by its type. */
    | { readonly kind: "other"; readonly type: string }
  );

export interface EventOptions extends CallOptions {
  /** How many past events come first; -1 for all that the machine remembers. @default 0 */
  readonly tail?: number;
  readonly actorId?: string;
}

export interface LogOptions extends CallOptions {
  readonly follow?: boolean;
  /** @default -1, all */
  readonly tailLines?: number;
  /** Containers of Kubernetes rather than services of Talos. */
  readonly kubernetes?: boolean;
}

/** Calls that go on talking: events, logs, the health check that a control plane runs. */
export function streamCalls(transport: Transport) {
  return {
    async *events(options: EventOptions = {}): AsyncIterable<MachineEvent> {
      const { tail = 0, actorId = "", ...call } = options;
      const request = { tailEvents: tail, tailId: "", tailSeconds: 0, withActorId: actorId };
      for await (const event of messagesOf(transport, service.events, request, call)) {
        const type = event.data?.typeUrl ?? "";
        // The first message is an empty greeting.
        if (type === "") continue;
        yield { id: event.id, actorId: event.actorId, ...contentOf(type, event.data?.value ?? new Uint8Array()) };
      }
    },
    async *logs(id: string, options: LogOptions = {}): AsyncIterable<Uint8Array> {
      const { follow = false, tailLines = -1, kubernetes = false, ...call } = options;
      const request = {
        namespace: kubernetes ? "k8s.io" : "system",
        id,
        driver: kubernetes ? ContainerDriver.CRI : ContainerDriver.CONTAINERD,
        follow,
        tailLines,
      };
      for await (const { bytes } of messagesOf(transport, service.logs, request, call)) yield bytes;
    },
    async *dmesg(options: CallOptions & { readonly follow?: boolean } = {}): AsyncIterable<Uint8Array> {
      const { follow = false, ...call } = options;
      for await (const { bytes } of messagesOf(transport, service.dmesg, { follow, tail: false }, call)) yield bytes;
    },
    /** The lines of `talosctl health`, as the machine writes them. */
    async *healthCheck(
      nodes: { readonly controlPlanes: readonly string[]; readonly workers: readonly string[] },
      options: CallOptions & { readonly waitSeconds?: number } = {},
    ): AsyncIterable<string> {
      const { waitSeconds = 900, ...call } = options;
      const request = {
        waitTimeout: { seconds: BigInt(waitSeconds), nanos: 0 },
        clusterInfo: {
          controlPlaneNodes: [...nodes.controlPlanes],
          workerNodes: [...nodes.workers],
          forceEndpoint: "",
        },
      };
      for await (const { message } of messagesOf(transport, cluster.healthCheck, request, call)) yield message;
    },
  };
}

export type StreamCalls = ReturnType<typeof streamCalls>;

type Content = MachineEvent extends infer E ? (E extends unknown ? Omit<E, keyof EventBase> : never) : never;

function contentOf(typeUrl: string, value: Uint8Array): Content {
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
      const { stage, status } = MachineStatusEvent.decode(new MachineText(value));
      return { kind: "machine-status", stage, ready: status?.ready ?? false };
    }
    default:
      return { kind: "other", type };
  }
}
