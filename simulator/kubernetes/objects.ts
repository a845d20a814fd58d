// SPDX-License-Identifier: Apache-2.0
import type { Http2ServerResponse } from "node:http2";
import type { KubernetesObject } from "../machine/world.ts";
import type { ApiResource } from "./api-resource.ts";
import { apiVersionOf, storageName } from "./api-resources.ts";
import { requireEvictable } from "./eviction.ts";
import { leaseAsOf } from "./node-lease.ts";
import { podLog } from "./pod-log.ts";
import { stopPod } from "./pod-removal.ts";
import {
  bodyOf,
  clusterOf,
  commit,
  type ObjectRequest,
  objectOf,
  storedIn,
  type Target,
  targetOf,
  truthy,
} from "./request.ts";
import { requireRight, verbOf } from "./rights.ts";
import { scaled, scaleOf } from "./scale.ts";
import { fieldSelector, labelSelector } from "./selectors.ts";
import { ApiError } from "./status.ts";
import { listObjects } from "./store.ts";
import { tableOf } from "./table.ts";
import { watch } from "./watch.ts";
import { createFrom, patchWith, remove, removeAll, replaceWith } from "./writes.ts";

/** Reads, writes and watches of stored objects. */
export async function handleObjects(request: ObjectRequest, response: Http2ServerResponse): Promise<void> {
  const target = targetOf(clusterOf(request), request.url.pathname);
  const watching = truthy(request.url.searchParams.get("watch"));
  requireRight(clusterOf(request), request.user, target, verbOf(request.method, target, watching));
  if (request.method === "GET" && watching)
    return watch(request, target, filterOf(request), wantsTable(request), response);
  if (target.subresource === "log") return sendText(response, podLog(request, storedIn(clusterOf(request), target)));
  const [code, body] = await answer(request, target);
  response.statusCode = code;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(body));
}

async function answer(request: ObjectRequest, target: Target): Promise<readonly [code: number, body: unknown]> {
  const { method } = request;
  if (target.subresource === "eviction" && method === "POST") return [201, await postEviction(request, target)];
  if (target.subresource === "scale") return [200, await scale(request, target)];
  if (!["status", "finalize", "ephemeralcontainers", "resize", undefined].includes(target.subresource)) {
    throw new ApiError(
      404,
      "NotFound",
      `the simulated cluster does not serve ${target.subresource}: its pods run in name only`,
    );
  }
  switch (method) {
    case "GET":
      return [200, target.name === undefined ? list(request, target) : get(request, target)];
    case "POST":
      return [201, createFrom(request, target, objectOf(await bodyOf(request)))];
    case "PUT":
      return [200, replaceWith(request, target, objectOf(await bodyOf(request)))];
    case "PATCH": {
      const { object, created } = patchWith(request, target, await bodyOf(request));
      return [created ? 201 : 200, object];
    }
    case "DELETE":
      if (target.name !== undefined) return [200, remove(request, target, await bodyOf(request))];
      removeAll(request, target, filterOf(request), await bodyOf(request));
      return [200, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" }];
    default:
      throw new ApiError(405, "MethodNotAllowed", `the server does not allow ${method} here`);
  }
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

function get(request: ObjectRequest, target: Target): unknown {
  const cluster = clusterOf(request);
  const { now } = request.simulation.moment;
  const object = leaseAsOf(cluster, storedIn(cluster, target), now);
  return wantsTable(request) ? tableOf(target.resource.name, [object], object.metadata.resourceVersion, now) : object;
}

function list(request: ObjectRequest, { resource, namespace }: Target): unknown {
  const cluster = clusterOf(request);
  const { now } = request.simulation.moment;
  const items = listObjects(cluster, storageName(resource), namespace)
    .filter(filterOf(request))
    .map((object) => leaseAsOf(cluster, object, now));
  const revision = String(cluster.revision);
  return wantsTable(request) ? tableOf(resource.name, items, revision, now) : listObject(resource, items, revision);
}

function listObject(resource: ApiResource, items: readonly KubernetesObject[], resourceVersion: string): unknown {
  return { kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata: { resourceVersion }, items };
}

async function postEviction(request: ObjectRequest, target: Target): Promise<unknown> {
  await request.body();
  commit(request, (cluster, moment) => {
    const pod = storedIn(cluster, target);
    requireEvictable(cluster, pod);
    return { cluster: stopPod(cluster, pod, moment), object: pod };
  });
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
}

/** Reads and writes of the number of replicas alone. */
async function scale(request: ObjectRequest, target: Target): Promise<unknown> {
  const whole = { ...target, subresource: undefined };
  const known = storedIn(clusterOf(request), whole);
  if (request.method === "GET") return scaleOf(known);
  return scaleOf(replaceWith(request, whole, scaled(known, await bodyOf(request), request.contentType)));
}

function sendText(response: Http2ServerResponse, text: string): void {
  response.statusCode = 200;
  response.setHeader("content-type", "text/plain");
  response.end(text);
}
