// SPDX-License-Identifier: Apache-2.0
import {
  Event,
  EventType,
  GetResponse,
  type LabelQuery,
  LabelTerm_Operation,
  ListResponse,
  Resource,
  type StateService,
  WatchResponse,
} from "../../talos/api/gen/cosi/resource.ts";
import { CallError } from "../machine/call-error.ts";
import { Catalogue, type StoredResource } from "../resources/catalogue.ts";
import { namespaces, resourceType } from "../resources/definitions.ts";
import type { Simulation } from "../simulation.ts";
import { everyChange } from "./follow.ts";
import type { Call, Handlers } from "./method.ts";
import { timestampOf } from "./wire-time.ts";

/** One catalogue per machine for as long as the simulation lives. */
const catalogues = new WeakMap<Simulation, Map<string, Catalogue>>();

function catalogueOf(call: Call): Catalogue {
  const all = catalogues.get(call.simulation) ?? new Map<string, Catalogue>();
  catalogues.set(call.simulation, all);
  const catalogue = all.get(call.machineId) ?? new Catalogue(call.machineId);
  all.set(call.machineId, catalogue);
  return catalogue;
}

const knownNamespaces: ReadonlySet<string> = new Set(namespaces.map((namespace) => namespace.id));

/** Who may read what, in the order of the real checks. */
function authorize(call: Call, namespace: string, type: string): void {
  if (!knownNamespaces.has(namespace))
    throw new CallError("PermissionDenied", `namespace "${namespace}" is not supported`);
  const known = resourceType(type);
  if (known === undefined) throw new CallError("PermissionDenied", `resource type "${type}" is not supported`);
  if (known.secret && !call.roles.has("os:admin")) throw new CallError("PermissionDenied", "not authorized");
}

function current(call: Call, namespace: string, type: string): StoredResource[] {
  const all = catalogueOf(call).list(call.world(), type, call.simulation.moment.now);
  return [...all.values()]
    .filter((resource) => resource.namespace === namespace)
    .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

function encode(resource: StoredResource): Resource {
  return Resource.fromPartial({
    metadata: {
      namespace: resource.namespace,
      type: resource.type,
      id: resource.id,
      version: String(resource.version),
      owner: resource.owner,
      phase: "running",
      created: timestampOf(resource.created),
      updated: timestampOf(resource.updated),
      labels: { ...resource.labels },
      annotations: { ...resource.annotations },
    },
    spec: { protoSpec: resource.proto, yamlSpec: resource.yaml },
  });
}

interface Query {
  readonly labelQuery: readonly LabelQuery[];
  readonly idQuery: { readonly regexp: string } | undefined;
}

/** Every query of the list may match (or); all terms of one query must (and). */
function matches(resource: StoredResource, query: Query | undefined): boolean {
  if (
    query?.idQuery !== undefined &&
    query.idQuery.regexp !== "" &&
    !new RegExp(query.idQuery.regexp).test(resource.id)
  ) {
    return false;
  }
  const queries = query?.labelQuery ?? [];
  return queries.length === 0 || queries.some(({ terms }) => terms.every((term) => termHolds(resource.labels, term)));
}

function termHolds(labels: Readonly<Record<string, string>>, term: LabelQuery["terms"][number]): boolean {
  const value = labels[term.key];
  const holds =
    term.op === LabelTerm_Operation.EXISTS
      ? value !== undefined
      : term.op === LabelTerm_Operation.NOT_EXISTS
        ? value === undefined
        : value !== undefined && term.value.includes(value);
  return term.invert ? !holds : holds;
}

/** Write methods all fail alike. */
function refuseWrite(): never {
  throw new CallError("PermissionDenied", "write access is not allowed");
}

export const stateMethods: Handlers<typeof StateService> = {
  get(call, { namespace, type, id }) {
    authorize(call, namespace, type);
    const resource = current(call, namespace, type).find((candidate) => candidate.id === id);
    if (resource === undefined) throw notFound(namespace, type, id);
    return GetResponse.fromPartial({ resource: encode(resource) });
  },

  async *list(call, { namespace, type, options }) {
    authorize(call, namespace, type);
    for (const resource of current(call, namespace, type)) {
      if (matches(resource, options)) yield ListResponse.fromPartial({ resource: encode(resource) });
    }
  },

  async *watch(call, request) {
    const { namespace, type, id, options } = request;
    authorize(call, namespace, type);
    const wanted = (): Map<string, StoredResource> =>
      new Map(
        current(call, namespace, type)
          .filter((resource) => (id === undefined ? matches(resource, options) : resource.id === id))
          .map((resource) => [resource.id, resource]),
      );
    yield WatchResponse.fromPartial({});
    let known: Map<string, StoredResource> | undefined;
    for await (const _ of everyChange(call)) {
      const next = wanted();
      const events = known === undefined ? opening(request, next, id) : difference(known, next);
      known = next;
      if (events.length === 0) continue;
      if (options?.aggregated) yield WatchResponse.fromPartial({ event: events });
      else for (const event of events) yield WatchResponse.fromPartial({ event: [event] });
    }
  },

  create: refuseWrite,
  update: refuseWrite,
  destroy: refuseWrite,
};

function notFound(namespace: string, type: string, id: string): CallError {
  return new CallError("NotFound", `resource ${type}(${namespace}/${id}@undefined) doesn't exist`);
}

let bookmarks = 0n;

/** Bookmarks count events; they are not kept, so a watch that comes back with one is told to start anew. */
function nextBookmark(): Uint8Array {
  bookmarks += 1n;
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(bookmarks);
  return bytes;
}

function event(type: EventType, resource: Resource | undefined, old?: Resource): Event {
  return Event.fromPartial({
    eventType: type,
    ...(resource === undefined ? {} : { resource }),
    ...(old === undefined ? {} : { old }),
    bookmark: nextBookmark(),
  });
}

/** What a watch says first: the one resource, or all of them and then that this was all. */
function opening(
  request: {
    readonly namespace: string;
    readonly type: string;
    readonly options: { readonly bootstrapContents: boolean; readonly startFromBookmark: Uint8Array } | undefined;
    readonly apiVersion: number;
  },
  known: ReadonlyMap<string, StoredResource>,
  id: string | undefined,
): Event[] {
  if ((request.options?.startFromBookmark.length ?? 0) > 0) {
    throw new CallError("FailedPrecondition", "invalid watch bookmark");
  }
  const present = [...known.values()].map((resource) => event(EventType.CREATED, encode(resource)));
  if (id !== undefined) {
    return present.length > 0 ? present : [event(EventType.DESTROYED, tombstone(request.namespace, request.type, id))];
  }
  if (request.options?.bootstrapContents !== true) return [];
  return request.apiVersion === 0 ? present : [...present, event(EventType.BOOTSTRAPPED, undefined)];
}

function tombstone(namespace: string, type: string, id: string): Resource {
  return Resource.fromPartial({ metadata: { namespace, type, id, version: "undefined", phase: "running" }, spec: {} });
}

function difference(before: ReadonlyMap<string, StoredResource>, after: ReadonlyMap<string, StoredResource>): Event[] {
  const events: Event[] = [];
  for (const [id, resource] of after) {
    const old = before.get(id);
    if (old === undefined) events.push(event(EventType.CREATED, encode(resource)));
    else if (old !== resource) events.push(event(EventType.UPDATED, encode(resource), encode(old)));
  }
  for (const [id, resource] of before) {
    if (!after.has(id)) events.push(event(EventType.DESTROYED, encode(resource)));
  }
  return events;
}
