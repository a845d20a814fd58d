// SPDX-License-Identifier: Apache-2.0
import type { Http2ServerResponse } from "node:http2";
import type { KubernetesObject } from "../machine/world.ts";
import type { ApiResource } from "./api-resource.ts";
import { apiVersionOf, storageName } from "./api-resources.ts";
import { historyOf, type ObjectChange } from "./history.ts";
import { clusterOf, type ObjectRequest, type Target, truthy } from "./request.ts";
import { listObjects } from "./store.ts";
import { tableOf } from "./table.ts";

/** Streams changes until the client goes away or its time is over. A name in the path watches that object alone. */
export async function watch(
  request: ObjectRequest,
  target: Target,
  filter: (object: KubernetesObject) => boolean,
  table: boolean,
  response: Http2ServerResponse,
): Promise<void> {
  const { simulation, clusterKey, url } = request;
  const history = historyOf(simulation);
  const storage = storageName(target.resource);
  const prefix = target.namespace === undefined ? `${storage}/` : `${storage}/${target.namespace}/`;
  const wanted = (object: KubernetesObject): boolean =>
    (target.name === undefined || object.metadata.name === target.name) && filter(object);
  const asked = url.searchParams.get("resourceVersion");
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

/** Tells a client that lists by watching that it has seen everything there was. */
function endOfInitial(resource: ApiResource, revision: number): unknown {
  const annotations = { "k8s.io/initial-events-end": "true" };
  const metadata = { resourceVersion: String(revision), annotations, creationTimestamp: null };
  return { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata };
}
