// SPDX-License-Identifier: Apache-2.0
import { setTimeout } from "node:timers/promises";
import { TalosError } from "../errors.ts";
import { type Event, EventType, StateService as service, type Resource as WireResource } from "./gen/cosi/resource.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** One resource of a machine's state. `spec` is protobuf; `yaml` is the same for people. */
export interface Resource {
  readonly namespace: string;
  readonly type: string;
  readonly id: string;
  readonly version: string;
  readonly phase: string;
  /** Seconds and nanoseconds since 1970, as text; resources live in memory, so that it changes with every boot. */
  readonly created: string;
  readonly spec: Uint8Array;
  readonly yaml: string;
}

export type ResourceChange =
  | { readonly kind: "created" | "updated" | "destroyed"; readonly resource: Resource }
  /** Everything that was there when the watch began has been told. */
  | { readonly kind: "complete" }
  /** Changes may have been missed: what follows tells everything from the beginning. */
  | { readonly kind: "restarted" };

const changes = {
  [EventType.CREATED]: "created",
  [EventType.UPDATED]: "updated",
  [EventType.DESTROYED]: "destroyed",
} as const;

/** The resources of a machine (COSI), read only. */
export function resourceCalls(transport: Transport) {
  return {
    /** Undefined when there is no such resource. */
    async getResource(
      namespace: string,
      type: string,
      id: string,
      options: CallOptions = {},
    ): Promise<Resource | undefined> {
      try {
        const reply = await transport.unary(service.get, { namespace, type, id, options: {} }, options);
        return reply.resource === undefined ? undefined : fromWire(reply.resource, transport);
      } catch (error) {
        if (error instanceof TalosError && error.code === "not-found") return undefined;
        throw error;
      }
    },
    async listResources(namespace: string, type: string, options: CallOptions = {}): Promise<Resource[]> {
      const request = { namespace, type, options: { labelQuery: [], idQuery: undefined } };
      const found: Resource[] = [];
      for await (const reply of transport.serverStream(service.list, request, { deadline: 10_000, ...options })) {
        if (reply.resource !== undefined) found.push(fromWire(reply.resource, transport));
      }
      return found;
    },
    /**
     * Without an id, the whole kind. A watch that breaks, as by a reboot, is taken up again where it was; where the
     * machine no longer knows that place, it begins anew and says so. Ends only with the signal, or when it is refused.
     */
    async *watchResources(
      namespace: string,
      type: string,
      options: CallOptions & { readonly id?: string } = {},
    ): AsyncIterable<ResourceChange> {
      const { id, ...call } = options;
      let bookmark: Uint8Array | undefined;
      let begun = false;
      let failures = 0;
      for (;;) {
        try {
          for await (const event of watchOnce(transport, { namespace, type, id, bookmark }, call)) {
            begun = true;
            failures = 0;
            bookmark = event.bookmark ?? bookmark;
            const change = changeOf(event, transport);
            if (change !== undefined) yield change;
          }
        } catch (error) {
          const ours = TalosError.from(error);
          if (bookmark !== undefined && ours.code === "failed-precondition") {
            bookmark = undefined;
            yield { kind: "restarted" };
            continue;
          }
          if (!begun || ours.code !== "unavailable") throw ours;
        }
        failures++;
        await pause(failures, call.signal, transport.node);
      }
    },
  };
}

interface Watched {
  readonly namespace: string;
  readonly type: string;
  readonly id: string | undefined;
  readonly bookmark: Uint8Array | undefined;
}

async function* watchOnce(
  transport: Transport,
  { bookmark, ...watched }: Watched,
  call: CallOptions,
): AsyncIterable<Event> {
  const request = {
    ...watched,
    options: {
      // What is there has been told already to whoever comes with a bookmark.
      bootstrapContents: watched.id === undefined && bookmark === undefined,
      tailEvents: 0,
      labelQuery: [],
      idQuery: undefined,
      aggregated: false,
      startFromBookmark: bookmark ?? new Uint8Array(),
      bootstrapBookmark: false,
    },
    apiVersion: 1,
  };
  for await (const reply of transport.serverStream(service.watch, request, call)) {
    for (const event of reply.event) {
      if (event.eventType === EventType.ERRORED) {
        const reason = event.error ?? "no reason given";
        throw new TalosError("unavailable", `${transport.node}: the watch of ${watched.type} broke: ${reason}`);
      }
      yield event;
    }
  }
}

function changeOf({ eventType, resource }: Event, transport: Transport): ResourceChange | undefined {
  if (eventType === EventType.BOOTSTRAPPED) return { kind: "complete" };
  if (eventType === EventType.NOOP || eventType === EventType.ERRORED || resource === undefined) return undefined;
  return { kind: changes[eventType], resource: fromWire(resource, transport) };
}

const firstPause = 100;
const longestPause = 5000;

async function pause(failures: number, signal: AbortSignal | undefined, node: string): Promise<void> {
  const time = Math.min(firstPause * 2 ** (failures - 1), longestPause);
  try {
    await setTimeout(time, undefined, signal === undefined ? {} : { signal });
  } catch (cause) {
    throw new TalosError("canceled", `${node}: canceled`, { node, cause });
  }
}

export type ResourceCalls = ReturnType<typeof resourceCalls>;

function fromWire({ metadata, spec }: WireResource, transport: Transport): Resource {
  if (metadata === undefined) {
    throw new TalosError("internal", `${transport.node}: a resource without metadata`, { node: transport.node });
  }
  return {
    namespace: metadata.namespace,
    type: metadata.type,
    id: metadata.id,
    version: metadata.version,
    phase: metadata.phase,
    created: `${metadata.created?.seconds ?? 0}.${String(metadata.created?.nanos ?? 0).padStart(9, "0")}`,
    spec: spec?.protoSpec ?? new Uint8Array(),
    yaml: spec?.yamlSpec ?? "",
  };
}
