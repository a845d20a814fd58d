// SPDX-License-Identifier: Apache-2.0

import { parse } from "yaml";
import { given } from "../../talos/given.ts";
import type { Moment } from "../machine/timings.ts";
import { type Cluster, isTree, type KubernetesObject, type Tree, withCluster } from "../machine/world.ts";
import type { Simulation } from "../simulation.ts";
import { type ApiResource, apiVersionOf, findResource, isServed, storageName } from "./api-resources.ts";
import type { User } from "./identity.ts";
import { decodeKubernetesProtobuf } from "./protobuf.ts";
import { ApiError, notServed } from "./status.ts";
import { getObject, type NewObject } from "./store.ts";

export interface ObjectRequest {
  readonly simulation: Simulation;
  readonly clusterKey: string;
  readonly serviceSubnet: string;
  readonly user: User;
  readonly url: URL;
  readonly method: string;
  readonly accept: string;
  readonly contentType: string;
  readonly userAgent: string;
  body(): Promise<Buffer>;
}

/** What a path names. */
export interface Target {
  readonly resource: ApiResource;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** Such a path is answered before any Kubernetes object is involved. */
export class UnknownPath extends Error {}

export function targetOf(cluster: Cluster, path: string): Target {
  const [, group, version = "", rest = ""] =
    /^\/apis\/([^/]+)\/([^/]+)\/(.+)$/.exec(path) ??
    [/^\/api\/(v1)\/(.+)$/.exec(path)].flatMap((m) => (m ? [m[0], "", m[1], m[2]] : []));
  // A version of a known group that is not served.
  if (isServed(cluster, /^\/apis\/([^/]+)\/[^/]+$/.exec(path)?.[1] ?? "?")) throw notServed();
  if (group === undefined) throw new UnknownPath();
  const parts = rest.split("/").map(decodeURIComponent);
  const inNamespace = parts[0] === "namespaces" && parts.length > 2 && !["status", "finalize"].includes(parts[2] ?? "");
  const [name = "", objectName, subresource] = inNamespace ? parts.slice(2) : parts;
  const resource = findResource(cluster, group, version, name);
  if (resource === undefined && !isServed(cluster, group)) throw new UnknownPath();
  if (resource === undefined) throw notServed();
  return { resource, namespace: inNamespace ? parts[1] : undefined, name: objectName, subresource };
}

export function clusterOf(request: ObjectRequest): Cluster {
  const cluster = request.simulation.world.clusters[request.clusterKey];
  if (cluster === undefined) throw new ApiError("ServiceUnavailable", "the cluster is gone");
  return cluster;
}

/** The object that the path names; 404 when there is none. */
export function storedIn(cluster: Cluster, target: Target): KubernetesObject {
  const object = getObject(cluster, storageName(target.resource), target.namespace, target.name ?? "");
  if (object === undefined) throw missing(target.resource, target.name ?? "");
  return object;
}

/** What an error says about the object that it is about. */
export function detailsOf({ group, name: kind }: Pick<ApiResource, "group" | "name">, name: string | undefined): Tree {
  return given({ name, group: group === "" ? undefined : group, kind });
}

export function missing(resource: ApiResource, name: string): ApiError {
  return new ApiError("NotFound", `${storageName(resource)} "${name}" not found`, detailsOf(resource, name));
}

/** The object under this name is another one than the client means. */
export function strangerError({ resource: { kind }, name = "" }: Target, expected: string, found: string): ApiError {
  const message = `Operation cannot be fulfilled on ${kind} "${name}": the UID in the precondition (${expected}) does not match the UID in record (${found}). The object might have been deleted and then recreated`;
  return new ApiError("Conflict", message, { name, kind });
}

export function conflict({ resource, name = "" }: Target): ApiError {
  return new ApiError(
    "Conflict",
    `Operation cannot be fulfilled on ${storageName(resource)} "${name}": the object has been modified; please apply your changes to the latest version and try again`,
    detailsOf(resource, name),
  );
}

export interface Change {
  readonly cluster: Cluster;
  readonly object: KubernetesObject;
}

/** Makes a change, or only answers what it would give (`dryRun=All`). */
export function commit(request: ObjectRequest, change: (cluster: Cluster, moment: Moment) => Change): KubernetesObject {
  const { simulation, clusterKey, url } = request;
  if (url.searchParams.get("dryRun") === "All") return change(clusterOf(request), simulation.moment).object;
  return simulation.act((world, moment) => {
    const { cluster, object } = change(clusterOf(request), moment);
    return { world: world.clusters[clusterKey] === undefined ? world : withCluster(world, cluster), object };
  }).object;
}

/** The body as a plain value, whichever form it came in; null when there is none. */
export async function bodyOf(request: ObjectRequest): Promise<unknown> {
  const bytes = await request.body();
  if (bytes.length === 0) return null;
  if (request.contentType.startsWith("application/vnd.kubernetes.protobuf")) return decodeKubernetesProtobuf(bytes);
  try {
    return parse(bytes.toString("utf8"));
  } catch (cause) {
    throw new ApiError(
      "BadRequest",
      `the body can't be read: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
}

/** The path says what an object is that does not say it itself. */
export function objectOf(value: unknown, { resource }: Target): NewObject {
  if (!isTree(value))
    throw new ApiError("BadRequest", `the object provided is unrecognized (must be of type ${resource.kind})`);
  const { kind = resource.kind, apiVersion = apiVersionOf(resource), metadata, ...rest } = value as Partial<NewObject>;
  return { ...rest, kind, apiVersion, metadata: { ...metadata, name: metadata?.name ?? "" } };
}

export function wrongKind(kind: string, expected: string, version = "v1"): ApiError {
  const group = expected === "Eviction" ? "policy" : "core";
  const why = `converting (${version}.${kind}) to (${group}.${expected}): unknown conversion`;
  return new ApiError("BadRequest", `${kind} in version "${version}" cannot be handled as a ${expected}: ${why}`);
}

export function truthy(value: string | null): boolean {
  return value === "true" || value === "1";
}
