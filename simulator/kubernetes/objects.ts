// SPDX-License-Identifier: Apache-2.0
import type { Http2ServerResponse } from "node:http2";
import { parse } from "yaml";
import type { Moment } from "../machine/moment.ts";
import type { Cluster, KubernetesObject, World } from "../machine/world.ts";
import { withCluster } from "../machine/world.ts";
import type { Simulation } from "../simulation.ts";
import { type ApiResource, findResource, storageName } from "./api-resources.ts";
import { evict } from "./eviction.ts";
import { historyOf, type ObjectChange } from "./history.ts";
import { applyPatch } from "./patch.ts";
import { decodeKubernetesProtobuf } from "./protobuf.ts";
import { fieldSelector, labelSelector } from "./selectors.ts";
import { ApiError } from "./status.ts";
import {
  createObject,
  deleteObject,
  getObject,
  listObjects,
  type NewObject,
  timestamp,
  updateObject,
} from "./store.ts";
import { tableOf } from "./table.ts";

export interface ObjectRequest {
  readonly simulation: Simulation;
  readonly clusterKey: string;
  readonly url: URL;
  readonly method: string;
  readonly accept: string;
  readonly contentType: string;
  body(): Promise<Buffer>;
}

interface Target {
  readonly resource: ApiResource;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** Reads, writes and watches of stored objects. */
export async function handleObjects(request: ObjectRequest, response: Http2ServerResponse): Promise<void> {
  const target = targetOf(request.url.pathname);
  switch (request.method) {
    case "GET":
      if (target.name === undefined && truthy(request.url.searchParams.get("watch")))
        return watch(request, target, response);
      return target.name === undefined ? list(request, target, response) : get(request, target, response);
    case "POST":
      return target.subresource === "eviction"
        ? postEviction(request, target, response)
        : create(request, target, response);
    case "PUT":
      return replace(request, target, response);
    case "PATCH":
      return patch(request, target, response);
    case "DELETE":
      return target.name === undefined ? removeAll(request, target, response) : remove(request, target, response);
    default:
      throw new ApiError(405, "MethodNotAllowed", `the server does not allow ${request.method} here`);
  }
}

function targetOf(path: string): Target {
  const [, group = "", version = "", rest = ""] =
    /^\/apis\/([^/]+)\/([^/]+)\/(.+)$/.exec(path) ??
    [/^\/api\/(v1)\/(.+)$/.exec(path)].flatMap((m) => (m ? [m[0], "", m[1], m[2]] : []));
  const parts = rest.split("/").map(decodeURIComponent);
  const inNamespace = parts[0] === "namespaces" && parts.length > 2 && !["status", "finalize"].includes(parts[2] ?? "");
  const [name = "", objectName, subresource] = inNamespace ? parts.slice(2) : parts;
  const resource = findResource(group, version, name);
  if (resource === undefined) throw new ApiError(404, "NotFound", "the server could not find the requested resource");
  return { resource, namespace: inNamespace ? parts[1] : undefined, name: objectName, subresource };
}

function truthy(value: string | null): boolean {
  return value === "true" || value === "1";
}

function clusterOf(request: ObjectRequest): Cluster {
  const cluster = request.simulation.world.clusters[request.clusterKey];
  if (cluster === undefined) throw new ApiError(503, "ServiceUnavailable", "the cluster is gone");
  return cluster;
}

function missing({ resource, name }: Target): ApiError {
  const plural = storageName(resource);
  const details = { name, group: resource.group, kind: resource.name };
  return new ApiError(404, "NotFound", `${plural} "${name ?? ""}" not found`, details);
}

function stored(request: ObjectRequest, target: Target): KubernetesObject {
  const object = getObject(clusterOf(request), storageName(target.resource), target.namespace, target.name ?? "");
  if (object === undefined) throw missing(target);
  return object;
}

function filterOf(request: ObjectRequest): (object: KubernetesObject) => boolean {
  const { searchParams } = request.url;
  const label = labelSelector(searchParams.get("labelSelector"));
  const field = fieldSelector(searchParams.get("fieldSelector"));
  return (object) => label(object) && field(object);
}

function wantsTable(request: ObjectRequest): boolean {
  return request.accept.includes("as=Table");
}

function get(request: ObjectRequest, target: Target, response: Http2ServerResponse): void {
  const object = stored(request, target);
  const { now } = request.simulation.moment;
  const table = wantsTable(request);
  send(response, 200, table ? tableOf(target.resource.name, [object], object.metadata.resourceVersion, now) : object);
}

function list(request: ObjectRequest, target: Target, response: Http2ServerResponse): void {
  const { resource, namespace } = target;
  const cluster = clusterOf(request);
  const items = listObjects(cluster, storageName(resource), namespace).filter(filterOf(request));
  const revision = String(cluster.revision);
  const table = wantsTable(request);
  const { now } = request.simulation.moment;
  const body = table ? tableOf(resource.name, items, revision, now) : listObject(resource, items, revision);
  send(response, 200, body);
}

function listObject(resource: ApiResource, items: readonly KubernetesObject[], resourceVersion: string): unknown {
  const apiVersion = resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
  return { kind: `${resource.kind}List`, apiVersion, metadata: { resourceVersion }, items };
}

async function create(request: ObjectRequest, target: Target, response: Http2ServerResponse): Promise<void> {
  const input = objectOf(await bodyOf(request));
  const object = {
    ...input,
    metadata: { ...input.metadata, ...(target.namespace === undefined ? {} : { namespace: target.namespace }) },
  };
  if (object.metadata.name === "")
    throw new ApiError(422, "Invalid", "metadata.name: Required value: name or generateName is required");
  const storage = storageName(target.resource);
  if (getObject(clusterOf(request), storage, target.namespace, object.metadata.name) !== undefined) {
    const message = `${storage} "${object.metadata.name}" already exists`;
    throw new ApiError(409, "AlreadyExists", message, { name: object.metadata.name, kind: target.resource.name });
  }
  change(request, (cluster, moment) => createObject(cluster, storage, object, moment));
  send(response, 201, stored(request, { ...target, name: object.metadata.name }));
}

async function replace(request: ObjectRequest, target: Target, response: Http2ServerResponse): Promise<void> {
  const known = stored(request, target);
  const input = objectOf(await bodyOf(request));
  const expected = input.metadata.resourceVersion;
  if (expected !== undefined && expected !== known.metadata.resourceVersion) throw conflict(target);
  write(request, target, merged(known, input, target.subresource));
  send(response, 200, stored(request, target));
}

async function patch(request: ObjectRequest, target: Target, response: Http2ServerResponse): Promise<void> {
  const input = await bodyOf(request);
  const storage = storageName(target.resource);
  const known = getObject(clusterOf(request), storage, target.namespace, target.name ?? "");
  if (known === undefined) {
    // Server-side apply creates what is not there.
    if (!request.contentType.includes("apply-patch")) throw missing(target);
    change(request, (cluster, moment) => createObject(cluster, storage, objectOf(input), moment));
    return send(response, 201, stored(request, target));
  }
  const patched = applyPatch(known, request.contentType, input) as KubernetesObject;
  const expected = (input as { metadata?: { resourceVersion?: string } } | null)?.metadata?.resourceVersion;
  if (expected !== undefined && expected !== known.metadata.resourceVersion) throw conflict(target);
  write(request, target, { ...patched, metadata: { ...patched.metadata, uid: known.metadata.uid } });
  send(response, 200, stored(request, target));
}

function conflict({ resource, name }: Target): ApiError {
  return new ApiError(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${storageName(resource)} "${name ?? ""}": the object has been modified; please apply your changes to the latest version and try again`,
    { name, group: resource.group, kind: resource.name },
  );
}

/** The server's own metadata stays; a status write touches the status only, any other leaves it. */
function merged(known: KubernetesObject, input: NewObject, subresource: string | undefined): KubernetesObject {
  if (subresource === "status") return { ...known, status: input.status };
  const { uid, resourceVersion, creationTimestamp } = known.metadata;
  const metadata = { ...input.metadata, uid, resourceVersion, creationTimestamp };
  return { ...input, metadata, ...(known.status === undefined ? {} : { status: known.status }) };
}

function write(request: ObjectRequest, target: Target, object: KubernetesObject): void {
  change(request, (cluster) => updateObject(cluster, storageName(target.resource), object));
}

async function remove(request: ObjectRequest, target: Target, response: Http2ServerResponse): Promise<void> {
  const object = stored(request, target);
  const options = (await bodyOf(request)) as {
    gracePeriodSeconds?: number;
    preconditions?: { uid?: string };
  } | null;
  const uid = options?.preconditions?.uid;
  if (uid !== undefined && uid !== object.metadata.uid) throw conflict(target);
  change(request, (cluster, moment) => removed(cluster, target, object, options?.gracePeriodSeconds === 0, moment));
  send(response, 200, object);
}

/** Pods stop first and are gone later; everything else goes at once. */
function removed(cluster: Cluster, target: Target, object: KubernetesObject, atOnce: boolean, moment: Moment): Cluster {
  const storage = storageName(target.resource);
  if (storage !== "pods" || atOnce) return deleteObject(cluster, storage, target.namespace, object.metadata.name);
  if (object.metadata.deletionTimestamp !== undefined) return cluster;
  const metadata = { ...object.metadata, deletionTimestamp: timestamp(moment.now), deletionGracePeriodSeconds: 30 };
  const stopping = updateObject(cluster, "pods", { ...object, metadata });
  const key = `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
  return { ...stopping, terminating: { ...stopping.terminating, [key]: moment.now + moment.timings.podStop } };
}

function removeAll(request: ObjectRequest, target: Target, response: Http2ServerResponse): void {
  const storage = storageName(target.resource);
  const wanted = listObjects(clusterOf(request), storage, target.namespace).filter(filterOf(request));
  change(request, (cluster, moment) =>
    wanted.reduce(
      (next, object) => removed(next, { ...target, namespace: object.metadata.namespace }, object, false, moment),
      cluster,
    ),
  );
  send(response, 200, { kind: "Status", apiVersion: "v1", status: "Success" });
}

async function postEviction(request: ObjectRequest, target: Target, response: Http2ServerResponse): Promise<void> {
  await request.body();
  const pod = stored(request, target);
  change(request, (cluster, moment) => {
    const allowed = evict(cluster, pod);
    return removed(allowed, target, pod, false, moment);
  });
  send(response, 201, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 });
}

function change(request: ObjectRequest, apply: (cluster: Cluster, moment: Moment) => Cluster): void {
  request.simulation.update((world, moment): World => {
    const cluster = world.clusters[request.clusterKey];
    return cluster === undefined ? world : withCluster(world, apply(cluster, moment));
  });
}

/** The body as a plain value, whichever form it came in; null when there is none. DeleteOptions in protobuf are taken as none. */
async function bodyOf(request: ObjectRequest): Promise<unknown> {
  const bytes = await request.body();
  if (bytes.length === 0) return null;
  if (!request.contentType.startsWith("application/vnd.kubernetes.protobuf")) return parse(bytes.toString("utf8"));
  return request.method === "DELETE" ? null : decodeKubernetesProtobuf(bytes);
}

function objectOf(value: unknown): NewObject {
  const object = value as NewObject | null;
  if (typeof object !== "object" || typeof object?.kind !== "string" || typeof object.metadata !== "object") {
    throw new ApiError(400, "BadRequest", "the body is not a Kubernetes object");
  }
  return { ...object, metadata: { ...object.metadata, name: object.metadata.name ?? "" } };
}

function send(response: Http2ServerResponse, status: number, body: unknown): void {
  response.statusCode = status;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(body));
}

/** Tells a client that lists by watching that it has seen everything there was. */
function endOfInitial({ group, version, kind }: ApiResource, revision: number): unknown {
  const annotations = { "k8s.io/initial-events-end": "true" };
  const apiVersion = group === "" ? version : `${group}/${version}`;
  return { kind, apiVersion, metadata: { resourceVersion: String(revision), annotations, creationTimestamp: null } };
}

/** Streams changes until the client goes away or its time is over. */
async function watch(request: ObjectRequest, target: Target, response: Http2ServerResponse): Promise<void> {
  const { simulation, clusterKey, url } = request;
  const history = historyOf(simulation);
  const storage = storageName(target.resource);
  const prefix = target.namespace === undefined ? `${storage}/` : `${storage}/${target.namespace}/`;
  const wanted = filterOf(request);
  const asked = url.searchParams.get("resourceVersion");
  const table = wantsTable(request);
  response.statusCode = 200;
  response.setHeader("content-type", "application/json");
  const emit = (type: string, object: KubernetesObject): void => {
    const body = table
      ? tableOf(target.resource.name, [object], object.metadata.resourceVersion, simulation.moment.now)
      : object;
    response.write(`${JSON.stringify({ type, object: body })}\n`);
  };
  const fromNow = asked === null || asked === "" || asked === "0";
  const initial = truthy(url.searchParams.get("sendInitialEvents"));
  let revision = fromNow || initial ? clusterOf(request).revision : Number(asked);
  if (fromNow || initial) {
    for (const object of listObjects(clusterOf(request), storage, target.namespace).filter(wanted))
      emit("ADDED", object);
  }
  if (initial)
    response.write(`${JSON.stringify({ type: "BOOKMARK", object: endOfInitial(target.resource, revision) })}\n`);
  // The compatibility response has it for both protocols; its types forget it.
  (response as Http2ServerResponse & { flushHeaders(): void }).flushHeaders();
  const deliver = (): void => {
    const changes: readonly ObjectChange[] | undefined = history.after(clusterKey, revision);
    if (changes === undefined) {
      const gone = {
        kind: "Status",
        apiVersion: "v1",
        status: "Failure",
        code: 410,
        reason: "Expired",
        message: "too old resource version",
      };
      response.end(`${JSON.stringify({ type: "ERROR", object: gone })}\n`);
      return;
    }
    for (const { type, key, object } of changes) if (key.startsWith(prefix) && wanted(object)) emit(type, object);
    revision = changes.at(-1)?.revision ?? revision;
  };
  await new Promise<void>((resolve) => {
    const stop = history.onChange(deliver);
    const seconds = Number(url.searchParams.get("timeoutSeconds") ?? "0");
    const timer = seconds > 0 ? setTimeout(() => response.end(), seconds * 1_000) : undefined;
    response.once("close", () => {
      stop();
      clearTimeout(timer);
      resolve();
    });
    deliver();
  });
}
