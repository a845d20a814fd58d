// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";
import { EventType, StateService as service, type Resource as WireResource } from "./gen/cosi/resource.ts";
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
  readonly labels: Readonly<Record<string, string>>;
}

export type ResourceChange =
  | { readonly kind: "created" | "updated" | "destroyed"; readonly resource: Resource }
  /** Everything that was there when the watch began has been told. */
  | { readonly kind: "complete" };

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
    /** Without an id, the whole kind. Ends only with the connection or the signal. */
    async *watchResources(
      namespace: string,
      type: string,
      options: CallOptions & { readonly id?: string } = {},
    ): AsyncIterable<ResourceChange> {
      const { id, ...call } = options;
      const request = {
        namespace,
        type,
        id,
        options: {
          bootstrapContents: id === undefined,
          tailEvents: 0,
          labelQuery: [],
          idQuery: undefined,
          aggregated: false,
          startFromBookmark: new Uint8Array(),
          bootstrapBookmark: false,
        },
        apiVersion: 1,
      };
      for await (const reply of transport.serverStream(service.watch, request, call)) {
        for (const { eventType, resource, error } of reply.event) {
          if (eventType === EventType.ERRORED) {
            throw new TalosError(
              "unavailable",
              `${transport.node}: the watch of ${type} broke: ${error ?? "no reason given"}`,
            );
          }
          if (eventType === EventType.BOOTSTRAPPED) yield { kind: "complete" };
          else if (eventType !== EventType.NOOP && resource !== undefined) {
            yield { kind: changes[eventType], resource: fromWire(resource, transport) };
          }
        }
      }
    },
  };
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
    labels: metadata.labels,
  };
}
