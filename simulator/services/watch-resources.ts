// SPDX-License-Identifier: Apache-2.0
import { Event, EventType, Resource, type WatchRequest, WatchResponse } from "../../talos/api/gen/cosi/resource.ts";
import { CallError } from "../machine/call-error.ts";
import type { Catalogue } from "../resources/catalogue.ts";
import { type ChangeLog, decodeBookmark, encodeBookmark, type ResourceChange } from "../resources/change-log.ts";
import type { StoredResource } from "../resources/stored-resource.ts";
import { everyChange } from "./follow.ts";
import type { Call } from "./method.ts";
import { encodeResource, matches } from "./resource-query.ts";

type Current = (call: Call, namespace: string, type: string) => readonly StoredResource[];

/** Answers a watch: an empty message, what was asked for to begin with, then every change until the caller goes away. */
export async function* watchResources(
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
