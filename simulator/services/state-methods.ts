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
  type WatchRequest,
  WatchResponse,
} from "../../talos/api/gen/cosi/resource.ts";
import {
  ControllerRuntimeDependenciesResponse,
  DependencyEdgeType,
  type InspectServiceService,
} from "../../talos/api/gen/inspect/inspect.ts";
import { CallError } from "../machine/call-error.ts";
import type { Identity } from "../machine/world.ts";
import { Catalogue, namespaces, producedTypes, resourceType } from "../resources/catalogue.ts";
import { type ChangeLog, decodeBookmark, encodeBookmark, type ResourceChange } from "../resources/change-log.ts";
import type { StoredResource } from "../resources/item.ts";
import { answer, type Call, everyChange, type Handlers, timestampOf } from "./method.ts";

/** One for as long as the machine exists: of all it has, its first certificate is what stays the same object. */
const catalogues = new WeakMap<Identity, Catalogue>();

function catalogueOf(call: Call): Catalogue {
  const { maintenance } = call.machine();
  const catalogue = catalogues.get(maintenance) ?? new Catalogue(call.machineId);
  catalogues.set(maintenance, catalogue);
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

/** Write methods all fail alike. */
function refuseWrite(): never {
  throw new CallError("PermissionDenied", "write access is not allowed");
}

export const stateMethods: Handlers<typeof StateService> = {
  get(call, { namespace, type, id }) {
    authorize(call, namespace, type);
    const resource = current(call, namespace, type).find((candidate) => candidate.id === id);
    if (resource === undefined) throw notFound(namespace, type, id);
    return GetResponse.fromPartial({ resource: encodeResource(resource) });
  },

  async *list(call, { namespace, type, options }) {
    authorize(call, namespace, type);
    for (const resource of current(call, namespace, type)) {
      if (matches(resource, options)) yield ListResponse.fromPartial({ resource: encodeResource(resource) });
    }
  },

  async *watch(call, request) {
    authorize(call, request.namespace, request.type);
    yield* watchResources(call, request, catalogueOf(call), current);
  },

  create: refuseWrite,
  update: refuseWrite,
  destroy: refuseWrite,
};

function notFound(namespace: string, type: string, id: string): CallError {
  return new CallError("NotFound", `resource ${type}(${namespace}/${id}@undefined) doesn't exist`);
}

/** Which controller puts out which resources. What each reads is not modelled, so there are no input edges. */
export const inspectMethods: Handlers<typeof InspectServiceService> = {
  controllerRuntimeDependencies: answer(ControllerRuntimeDependenciesResponse, () => ({
    edges: producedTypes.map(({ owner, namespace, type }) => ({
      controllerName: owner,
      edgeType: DependencyEdgeType.OUTPUT_EXCLUSIVE,
      resourceNamespace: namespace,
      resourceType: type,
    })),
  })),
};

/** A resource as it goes over the wire. */
function encodeResource(resource: StoredResource): Resource {
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

type Current = (call: Call, namespace: string, type: string) => readonly StoredResource[];

/** Answers a watch: an empty message, what was asked for to begin with, then every change until the caller goes away. */
async function* watchResources(
  call: Call,
  request: WatchRequest,
  catalogue: Catalogue,
  current: Current,
): AsyncGenerator<WatchResponse> {
  const { namespace, type, id, options } = request;
  const wanted = (resource: StoredResource | undefined): boolean =>
    resource !== undefined &&
    resource.namespace === namespace &&
    (id === undefined ? matches(resource, options) : resource.id === id);
  const log = (): ChangeLog => catalogue.log(call.world(), type, call.simulation.moment.now);
  let position = startOf(request, log(), catalogue.cookie, ({ before, after }) => wanted(after ?? before));
  const mark = (at: number): Uint8Array => encodeBookmark(catalogue.cookie, at);
  yield WatchResponse.fromPartial({});
  const first = opening(request, current(call, namespace, type).filter(wanted), mark(position - 1));
  yield* messages(first, options?.aggregated === true);
  for await (const _ of everyChange(call)) {
    const changes = log().from(position);
    position = changes.at(-1) === undefined ? position : log().end;
    const events = changes.flatMap((change) => eventOf(change, wanted, mark(change.position)));
    yield* messages(events, options?.aggregated === true);
  }
}

function* messages(events: readonly Event[], aggregated: boolean): Generator<WatchResponse> {
  if (aggregated && events.length > 0) yield WatchResponse.fromPartial({ event: [...events] });
  if (!aggregated) for (const event of events) yield WatchResponse.fromPartial({ event: [event] });
}

/** The position of the first change to tell, as the options ask; refuses as the real runtime does. */
function startOf(
  { id, options }: WatchRequest,
  log: ChangeLog,
  cookie: Uint8Array,
  concerns: (change: ResourceChange) => boolean,
): number {
  const bookmark = options?.startFromBookmark ?? new Uint8Array();
  const tail = options?.tailEvents ?? 0;
  if (tail > 0 && bookmark.length > 0) {
    throw new CallError("Unknown", "cannot use both TailEvents and StartFromBookmark options");
  }
  if (id === undefined && options?.bootstrapContents === true && (tail > 0 || bookmark.length > 0)) {
    throw new CallError("Unknown", "cannot use BootstrapContents with TailEvents and StartFromBookmark options");
  }
  if (tail > 0) return log.tail(tail, id === undefined ? () => true : concerns);
  if (bookmark.length === 0) return log.end;
  const position = decodeBookmark(cookie, bookmark);
  if (position === undefined || !log.reaches(position)) {
    throw new CallError("FailedPrecondition", "invalid watch bookmark");
  }
  return position + 1;
}

/** What a watch says first: the one resource; or all of them, and then that this was all; or just where it stands. */
function opening(request: WatchRequest, present: readonly StoredResource[], bookmark: Uint8Array): Event[] {
  const { namespace, type, id, options, apiVersion } = request;
  const created = present.map((resource) =>
    Event.fromPartial({ eventType: EventType.CREATED, resource: encodeResource(resource) }),
  );
  const resource = (name: string): Resource =>
    Resource.fromPartial({ metadata: { namespace, type, id: name, version: "undefined", phase: "running" }, spec: {} });
  const continued = (options?.tailEvents ?? 0) > 0 || (options?.startFromBookmark.length ?? 0) > 0;
  if (id !== undefined) {
    if (continued) return [];
    return created.length > 0
      ? created
      : [Event.fromPartial({ eventType: EventType.DESTROYED, resource: resource(id) })];
  }
  const sign = (eventType: EventType): Event => Event.fromPartial({ eventType, resource: resource(""), bookmark });
  const events = options?.bootstrapContents === true ? [...created] : [];
  if (options?.bootstrapContents === true && apiVersion > 0) events.push(sign(EventType.BOOTSTRAPPED));
  if (options?.bootstrapBookmark === true) events.push(sign(EventType.NOOP));
  return events;
}

/** A change as the watch sees it: what comes to match is new, what no longer does is gone. */
function eventOf(
  { before, after }: ResourceChange,
  wanted: (resource: StoredResource | undefined) => boolean,
  bookmark: Uint8Array,
): Event[] {
  const [was, is] = [wanted(before) ? before : undefined, wanted(after) ? after : undefined];
  if (is !== undefined && was !== undefined) {
    const [resource, old] = [encodeResource(is), encodeResource(was)];
    return [Event.fromPartial({ eventType: EventType.UPDATED, resource, old, bookmark })];
  }
  if (is !== undefined)
    return [Event.fromPartial({ eventType: EventType.CREATED, resource: encodeResource(is), bookmark })];
  if (was === undefined) return [];
  return [Event.fromPartial({ eventType: EventType.DESTROYED, resource: encodeResource(was), bookmark })];
}
