// SPDX-License-Identifier: Apache-2.0
import type { Http2ServerResponse } from "node:http2";
import type { Cluster, KubernetesObject } from "../machine/world.ts";
import type { Simulation } from "../simulation.ts";
import { type ApiResource, apiVersionOf, storageName } from "./api-resources.ts";
import { clusterOf, type ObjectRequest, type Target, truthy } from "./request.ts";
import { ApiError, statusObject } from "./status.ts";
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
  if (!/^\d*$/.test(asked ?? "")) {
    const parsing = `strconv.ParseUint: parsing ${JSON.stringify(asked)}: invalid syntax`;
    throw new ApiError("InternalError", `resourceVersion: Invalid value: ${JSON.stringify(asked)}: ${parsing}`);
  }
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
  const bookmark = (): void => {
    const metadata = { resourceVersion: String(revision), creationTimestamp: null };
    const object = { kind: target.resource.kind, apiVersion: apiVersionOf(target.resource), metadata };
    response.write(`${JSON.stringify({ type: "BOOKMARK", object })}\n`);
  };
  const deliver = (): void => {
    const changes: readonly ObjectChange[] | undefined = history.after(clusterKey, revision);
    if (changes === undefined) {
      const gone = statusObject(new ApiError("Expired", "too old resource version"));
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
    const marked = truthy(url.searchParams.get("allowWatchBookmarks")) ? setInterval(bookmark, 60_000) : undefined;
    response.once("close", () => {
      stop();
      clearTimeout(timer);
      clearInterval(marked);
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

export interface ObjectChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** `<resource>/<namespace>/<name>` */
  readonly key: string;
  readonly object: KubernetesObject;
  readonly revision: number;
}

/** How many changes a watch may be behind before it has to list again. */
const kept = 2_000;

/** The recent changes of each cluster's objects: what watches read. One per simulation. */
export class ObjectHistory {
  readonly #changes = new Map<string, ObjectChange[]>();
  readonly #since = new Map<string, number>();
  readonly #listeners = new Set<() => void>();

  constructor(simulation: Simulation) {
    for (const cluster of Object.values(simulation.world.clusters)) this.#since.set(cluster.key, cluster.revision);
    simulation.subscribe((next, previous) => {
      if (next.clusters === previous.clusters) return;
      for (const key of Object.keys(previous.clusters)) if (next.clusters[key] === undefined) this.#forget(key);
      for (const cluster of Object.values(next.clusters)) this.#record(previous.clusters[cluster.key], cluster);
      for (const listener of [...this.#listeners]) listener();
    });
  }

  /** The changes after a revision; undefined when they are no longer all known. */
  after(clusterKey: string, revision: number): readonly ObjectChange[] | undefined {
    if (revision < (this.#since.get(clusterKey) ?? 0)) return undefined;
    return (this.#changes.get(clusterKey) ?? []).filter((change) => change.revision > revision);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A cluster of the same key may come again, and its revisions then begin anew. */
  #forget(clusterKey: string): void {
    this.#changes.delete(clusterKey);
    this.#since.delete(clusterKey);
  }

  #record(before: Cluster | undefined, after: Cluster): void {
    if (before?.objects === after.objects) return;
    // Another etcd, empty or from a snapshot, is in the place of the one before.
    const isNew = before !== undefined && after.revision < before.revision;
    if (isNew) this.#forget(after.key);
    const changes = this.#changes.get(after.key) ?? [];
    const old = isNew ? {} : (before?.objects ?? {});
    for (const [key, object] of Object.entries(after.objects)) {
      const known = old[key];
      if (known === object) continue;
      const replaced = known !== undefined && known.metadata.uid === object.metadata.uid;
      const revision = Number(object.metadata.resourceVersion);
      changes.push({ type: replaced ? "MODIFIED" : "ADDED", key, object, revision });
    }
    for (const [key, object] of Object.entries(old)) {
      if (after.objects[key] === undefined) changes.push({ type: "DELETED", key, object, revision: after.revision });
    }
    changes.sort((a, b) => a.revision - b.revision);
    const dropped = changes.splice(0, Math.max(0, changes.length - kept));
    const last = dropped.at(-1);
    if (last !== undefined) this.#since.set(after.key, last.revision);
    this.#changes.set(after.key, changes);
  }
}

const histories = new WeakMap<Simulation, ObjectHistory>();

export function historyOf(simulation: Simulation): ObjectHistory {
  const known = histories.get(simulation) ?? new ObjectHistory(simulation);
  histories.set(simulation, known);
  return known;
}
