// SPDX-License-Identifier: Apache-2.0
import type { Http2ServerResponse } from "node:http2";
import { given } from "../../talos/given.ts";
import { configOf, machinesOf } from "../controllers/membership.ts";
import { type KubernetesObject, statusOf, type Tree, tree, valueAt } from "../machine/world.ts";
import { type ApiResource, apiVersionOf, hasStatus, isCustom, storageName } from "./api-resources.ts";
import { scalePathsOf } from "./custom-objects.ts";
import { requireEvictable } from "./eviction.ts";
import { leaseAsOf } from "./node.ts";
import { invalid, refuse } from "./object-rules.ts";
import { pageOf } from "./page.ts";
import { applyPatch } from "./patch.ts";
import { stopPod } from "./pod.ts";
import {
  bodyOf,
  clusterOf,
  commit,
  type ObjectRequest,
  objectOf,
  storedIn,
  strangerError,
  type Target,
  targetOf,
  truthy,
  wrongKind,
} from "./request.ts";
import { requireSound } from "./request-rules.ts";
import { requireRight, verbOf } from "./rights.ts";
import { distrustLog } from "./root-ca.ts";
import { fieldSelector, labelSelector } from "./selectors.ts";
import { ApiError, notServed, send, sendJson } from "./status.ts";
import { listObjects, timestamp } from "./store.ts";
import { tableOf } from "./table.ts";
import { watch } from "./watch.ts";
import { createFrom, patchWith, remove, removeAll, replaceWith } from "./writes.ts";

/** Reads, writes and watches of stored objects. */
export async function handleObjects(request: ObjectRequest, response: Http2ServerResponse): Promise<void> {
  const target = targetOf(clusterOf(request), request.url.pathname);
  const watching = truthy(request.url.searchParams.get("watch"));
  requireRight(clusterOf(request), request.user, target, verbOf(request.method, target, watching));
  requireSound(request, target);
  if (request.method === "GET" && watching)
    return watch(request, target, filterOf(request, target), wantsTable(request), response);
  if (target.subresource === "log")
    return send(response, 200, "text/plain", podLog(request, storedIn(clusterOf(request), target)));
  const [code, body] = await answer(request, target);
  sendJson(response, code, body);
}

async function answer(request: ObjectRequest, target: Target): Promise<readonly [code: number, body: unknown]> {
  const { method } = request;
  if (target.subresource === "eviction" && method === "POST") return [201, await postEviction(request, target)];
  if (target.subresource === "scale") return [200, await scale(request, target)];
  if (target.subresource === "status" && !hasStatus(target.resource)) throw notServed();
  if (["exec", "attach", "portforward", "proxy", "token"].includes(target.subresource ?? ""))
    throw new ApiError(
      "NotFound",
      `the simulated cluster does not serve ${target.subresource}: its pods run in name only`,
    );
  if (!["status", "finalize", "ephemeralcontainers", "resize", undefined].includes(target.subresource))
    throw notServed();
  switch (method) {
    case "GET":
      return [200, target.name === undefined ? list(request, target) : get(request, target)];
    case "POST":
      return [201, createFrom(request, target, objectOf(await bodyOf(request), target))];
    case "PUT":
      return [200, replaceWith(request, target, objectOf(await bodyOf(request), target))];
    case "PATCH": {
      const { object, created } = patchWith(request, target, await bodyOf(request));
      return [created ? 201 : 200, object];
    }
    case "DELETE":
      if (target.name !== undefined) return [200, remove(request, target, await bodyOf(request))];
      return [
        200,
        listObject(target.resource, removeAll(request, target, filterOf(request, target), await bodyOf(request)), {
          resourceVersion: String(clusterOf(request).revision),
        }),
      ];
    default:
      throw new ApiError("MethodNotAllowed", `the server does not allow ${method} here`);
  }
}

function filterOf(request: ObjectRequest, { resource }: Target): (object: KubernetesObject) => boolean {
  const { searchParams } = request.url;
  const label = labelSelector(searchParams.get("labelSelector"));
  const field = fieldSelector(resource, searchParams.get("fieldSelector"));
  return (object) => label(object) && field(object);
}

function wantsTable(request: ObjectRequest): boolean {
  return request.accept.includes("as=Table");
}

function wantsMetadata(request: ObjectRequest): boolean {
  return request.accept.includes("as=PartialObjectMetadata");
}

function get(request: ObjectRequest, target: Target): unknown {
  const cluster = clusterOf(request);
  const { now } = request.simulation.moment;
  const object = leaseAsOf(cluster, storedIn(cluster, target), now);
  if (wantsMetadata(request)) return metadataOf(object);
  return wantsTable(request) ? tableOf(target.resource.name, [object], object.metadata.resourceVersion, now) : object;
}

function list(request: ObjectRequest, target: Target): unknown {
  const { resource, namespace } = target;
  const cluster = clusterOf(request);
  const { now } = request.simulation.moment;
  const all = listObjects(cluster, storageName(resource), namespace).filter(filterOf(request, target));
  const { items: stored, ...rest } = pageOf(all, request.url.searchParams, cluster.revision);
  const items = stored.map((object) => leaseAsOf(cluster, object, now));
  const metadata = { resourceVersion: String(cluster.revision), ...rest };
  if (wantsTable(request)) return { ...tableOf(resource.name, items, metadata.resourceVersion, now), metadata };
  return wantsMetadata(request) ? metadataList(items, metadata) : listObject(resource, items, metadata);
}

function metadataList(items: readonly KubernetesObject[], metadata: Tree): unknown {
  return {
    kind: "PartialObjectMetadataList",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    items: items.map(metadataOf),
  };
}

/** What is known of any object, as clients ask for that do not need the rest. */
function metadataOf({ metadata }: KubernetesObject): Tree {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata };
}

/** In lists of built-in kinds only the list says what its items are. */
function withoutKind(resource: ApiResource): (object: KubernetesObject) => Tree {
  if (isCustom(resource)) return (object) => object;
  return ({ kind: _kind, apiVersion: _apiVersion, ...rest }) => rest;
}

function listObject(resource: ApiResource, items: readonly KubernetesObject[], metadata: Tree): unknown {
  return {
    kind: `${resource.kind}List`,
    apiVersion: apiVersionOf(resource),
    metadata,
    items: items.map(withoutKind(resource)),
  };
}

async function postEviction(request: ObjectRequest, target: Target): Promise<unknown> {
  const { kind, metadata, deleteOptions } = tree(await bodyOf(request));
  if (kind !== undefined && kind !== "Eviction") throw wrongKind(String(kind), "Eviction");
  const named = tree(metadata).name;
  if (named !== undefined && named !== target.name)
    throw new ApiError("BadRequest", "name in URL does not match name in Eviction object");
  const uid = valueAt(deleteOptions, ["preconditions", "uid"]);
  commit(request, (cluster, moment) => {
    const pod = storedIn(cluster, target);
    if (typeof uid === "string" && uid !== pod.metadata.uid) throw strangerError(target, uid, pod.metadata.uid);
    requireEvictable(cluster, pod);
    return { cluster: stopPod(cluster, pod, moment), object: pod };
  });
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
}

/** Reads and writes of the number of replicas alone. */
async function scale(request: ObjectRequest, target: Target): Promise<unknown> {
  const whole = { ...target, subresource: undefined };
  const cluster = clusterOf(request);
  const paths = scalePathsOf(cluster, target.resource);
  if (isCustom(target.resource) && paths === undefined) throw notServed();
  const known = storedIn(cluster, whole);
  if (request.method === "GET") return scaleOf(known, paths);
  const input = scaled(known, await bodyOf(request), request.contentType, paths);
  return scaleOf(replaceWith(request, whole, input), paths);
}

const at = (object: KubernetesObject, path: string) => valueAt(object, path.split(".").slice(1));

/** The `scale` view of a workload, which `kubectl scale` and autoscalers use; of a custom resource by its definition's paths. */
function scaleOf(workload: KubernetesObject, paths?: ReturnType<typeof scalePathsOf>): Tree {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = workload.metadata;
  const labels = Object.entries(tree(valueAt(workload, ["spec", "selector", "matchLabels"])));
  const selector = paths?.labelSelectorPath
    ? at(workload, paths.labelSelectorPath)
    : labels.map(([key, value]) => `${key}=${String(value)}`).join(",");
  const replicas = paths ? (at(workload, paths.specReplicasPath) ?? 0) : (tree(workload.spec).replicas ?? 1);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    // Typed objects leave a zero out.
    spec: given({ replicas: replicas || undefined }),
    status: given({
      replicas: (paths ? at(workload, paths.statusReplicasPath) : tree(workload.status).replicas) ?? 0,
      selector: selector || undefined,
    }),
  };
}

/** The workload with the replicas that a written `Scale` asks for, whole or as a patch. */
function scaled(
  workload: KubernetesObject,
  input: unknown,
  contentType: string,
  paths: ReturnType<typeof scalePathsOf>,
): KubernetesObject {
  const view = contentType.includes("patch") ? applyPatch(scaleOf(workload, paths), contentType, input) : input;
  const replicas = valueAt(view, ["spec", "replicas"]);
  const wanted = typeof replicas === "number" ? replicas : 0;
  if (wanted < 0)
    refuse({ group: "autoscaling", kind: "Scale", name: "scales" }, workload.metadata.name, [
      invalid("spec.replicas", String(wanted), "must be greater than or equal to 0"),
    ]);
  const expected = valueAt(view, ["metadata", "resourceVersion"]);
  const { resourceVersion: known } = workload.metadata;
  const metadata = { ...workload.metadata, resourceVersion: typeof expected === "string" ? expected : known };
  return { ...workload, metadata, spec: { ...tree(workload.spec), replicas: wanted } };
}

interface ContainerStatus {
  readonly name: string;
  readonly image: string;
  readonly state?: {
    readonly running?: { readonly startedAt: string };
    readonly waiting?: { readonly reason: string };
    readonly terminated?: { readonly startedAt: string };
  };
}

/** What a container has written. Containers run in name only: the one line says what was started, and when. */
function podLog(request: ObjectRequest, pod: KubernetesObject): string {
  const { name } = pod.metadata;
  const statuses = statusOf<{ containerStatuses?: readonly ContainerStatus[] }>(pod).containerStatuses ?? [];
  const wanted = request.url.searchParams.get("container") ?? "";
  const spec = pod.spec as { containers?: readonly { name: string }[] } | undefined;
  const container = wanted === "" ? (spec?.containers?.[0]?.name ?? "") : wanted;
  if (spec?.containers?.some((held) => held.name === container) !== true) {
    throw new ApiError("BadRequest", `container ${container} is not valid for pod ${name}`);
  }
  const status = statuses.find((held) => held.name === container);
  const started = status?.state?.running?.startedAt ?? status?.state?.terminated?.startedAt;
  if (status === undefined || started === undefined) {
    const reason = status?.state?.waiting?.reason ?? "ContainerCreating";
    const why = reason.includes("Pull") ? "trying and failing to pull image" : reason;
    throw new ApiError("BadRequest", `container "${container}" in pod "${name}" is waiting to start: ${why}`);
  }
  const stamp = request.url.searchParams.get("timestamps") === "true" ? `${started} ` : "";
  const { simulation, clusterKey } = request;
  const servers = machinesOf(simulation.world, clusterKey).flatMap((machine) => configOf(machine) ?? []);
  const planes = servers.filter(({ type }) => type === "controlplane");
  const distrust = distrustLog(clusterOf(request), pod, planes, timestamp(simulation.moment.now));
  return `${stamp}simulated container ${container} of ${status.image} started at ${started}\n${distrust}`;
}
