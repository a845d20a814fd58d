// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import { randomHex } from "../machine/chance.ts";
import type { Moment } from "../machine/timings.ts";
import { type Cluster, isTree, type KubernetesObject, type Tree, tree, valueAt } from "../machine/world.ts";
import { apiVersionOf, storageName } from "./api-resources.ts";
import { serviceAddress, withDefaults } from "./defaults.ts";
import { tokenSecretType } from "./identity.ts";
import { applyConfiguration, noteUpdate, type Writer } from "./managed-fields.ts";
import { applyPatch } from "./patch.ts";
import { stopPod, withAccount } from "./pod.ts";
import {
  type Change,
  clusterOf,
  commit,
  conflict,
  detailsOf,
  missing,
  type ObjectRequest,
  objectOf,
  storedIn,
  type Target,
} from "./request.ts";
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
import { refusePlainTimes, refuseUnconditional, refuseUnknownFields, refuseUntyped, validate } from "./validation.ts";

export function createFrom(request: ObjectRequest, target: Target, input: NewObject): KubernetesObject {
  return commit(request, (cluster, moment) => created(cluster, request, target, input, moment));
}

function created(cluster: Cluster, request: ObjectRequest, target: Target, input: NewObject, moment: Moment): Change {
  const storage = storageName(target.resource);
  refuseUnknownFields(request, input);
  refusePlainTimes(input);
  const object = withAccess(admitted(cluster, target, named(input, moment)), moment);
  const { name } = object.metadata;
  validate(target, object);
  if (getObject(cluster, storage, target.namespace, name) !== undefined) {
    throw new ApiError("AlreadyExists", `${storage} "${name}" already exists`, detailsOf(target.resource, name));
  }
  const made = createObject(cluster, storage, withDefaults(object), moment);
  const stored = addressed(storedIn(made, { ...target, name }), request.serviceSubnet);
  return put(made, { ...target, name }, noteUpdate(undefined, stored, writerOf(request, moment)));
}

/** A Secret for the token of a service account is given one, and a pod what it needs to use the API. */
function withAccess(object: NewObject, moment: Moment): NewObject {
  if (object.kind === "Pod") return { ...object, spec: withAccount(tree(object.spec)) };
  if (object.kind !== "Secret" || object.type !== tokenSecretType) return object;
  const token = Buffer.from(randomHex(moment.entropy, 32)).toString("base64");
  return { ...object, data: { ...(object.data as object | undefined), token } };
}

/** `generateName` gets its five letters. */
function named(input: NewObject, moment: Moment): NewObject {
  const { generateName } = input.metadata;
  if (input.metadata.name !== "") return input;
  if (typeof generateName === "string" && generateName !== "") {
    return {
      ...input,
      metadata: { ...input.metadata, name: `${generateName}${randomHex(moment.entropy, 3).slice(0, 5)}` },
    };
  }
  throw new ApiError("Invalid", "metadata.name: Required value: name or generateName is required");
}

/** Where the object belongs, and that this place exists. */
function admitted(cluster: Cluster, { resource, namespace }: Target, object: NewObject): NewObject {
  const { kind, apiVersion } =
    resource.kind === object.kind ? { ...object, apiVersion: apiVersionOf(resource) } : object;
  if (kind !== resource.kind) {
    throw new ApiError(
      "BadRequest",
      `${object.kind} in version "${apiVersion}" cannot be handled as a ${resource.kind}`,
    );
  }
  if (!resource.namespaced) return { ...object, apiVersion };
  if (namespace === undefined) throw new ApiError("BadRequest", "an empty namespace may not be set during creation");
  const given = object.metadata.namespace;
  if (given !== undefined && given !== "" && given !== namespace) {
    throw new ApiError(
      "BadRequest",
      `the namespace of the provided object does not match the namespace sent on the request`,
    );
  }
  const home = getObject(cluster, "namespaces", undefined, namespace);
  if (home === undefined) {
    throw new ApiError("NotFound", `namespaces "${namespace}" not found`, { name: namespace, kind: "namespaces" });
  }
  if (home.metadata.deletionTimestamp !== undefined) {
    const why = `because it is being terminated`;
    const message = `${storageName(resource)} "${object.metadata.name}" is forbidden: unable to create new content in namespace ${namespace} ${why}`;
    throw new ApiError("Forbidden", message, { name: object.metadata.name, kind: resource.name });
  }
  return { ...object, apiVersion, metadata: { ...object.metadata, namespace } };
}

export function replaceWith(request: ObjectRequest, target: Target, input: NewObject): KubernetesObject {
  refuseUnknownFields(request, input);
  refusePlainTimes(input);
  if (target.subresource === undefined) refuseUnconditional(target, input);
  return commit(request, (cluster, moment) => {
    const known = storedIn(cluster, target);
    const expected = input.metadata.resourceVersion;
    if (expected !== undefined && expected !== "" && expected !== known.metadata.resourceVersion)
      throw conflict(target);
    return changed(cluster, request, target, known, merged(known, input, target.subresource), moment);
  });
}

const patchTypes = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
  "application/apply-patch+cbor",
] as const;

export function patchWith(
  request: ObjectRequest,
  target: Target,
  input: unknown,
): { readonly object: KubernetesObject; readonly created: boolean } {
  const applying = request.contentType.includes("apply-patch");
  if (!patchTypes.some((type) => request.contentType.startsWith(type)))
    throw new ApiError(
      "UnsupportedMediaType",
      `the body of the request was in an unknown format - accepted media types include: ${patchTypes.join(", ")}`,
    );
  let isNew = false;
  const object = commit(request, (cluster, moment) => {
    const known = getObject(cluster, storageName(target.resource), target.namespace, target.name ?? "");
    isNew = known === undefined;
    if (applying) return applied(cluster, request, target, known, objectOf(input), moment);
    if (known === undefined) throw missing(target.resource, target.name ?? "");
    const expected = valueAt(input, ["metadata", "resourceVersion"]);
    if (typeof expected === "string" && expected !== known.metadata.resourceVersion) throw conflict(target);
    const patched = applyPatch(known, request.contentType, input) as KubernetesObject;
    return changed(cluster, request, target, known, merged(known, patched, target.subresource), moment);
  });
  return { object, created: isNew };
}

/** Server-side apply; it creates what is not there. */
function applied(
  cluster: Cluster,
  request: ObjectRequest,
  target: Target,
  known: KubernetesObject | undefined,
  input: NewObject,
  moment: Moment,
): Change {
  const manager = request.url.searchParams.get("fieldManager");
  if (manager === null || manager === "") {
    throw new ApiError(
      "Invalid",
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    );
  }
  const writer = { manager, time: timestamp(moment.now) };
  const force = request.url.searchParams.get("force") === "true";
  const stated = admitted(cluster, target, { ...input, metadata: { ...input.metadata, name: target.name ?? "" } });
  refuseUntyped(stated);
  if (known === undefined) {
    validate(target, stated);
    const made = createObject(cluster, storageName(target.resource), withDefaults(stated), moment);
    const stored = addressed(storedIn(made, target), request.serviceSubnet);
    return put(made, target, applyConfiguration(stored, stated, writer, force));
  }
  if (target.subresource === "status") return put(cluster, target, { ...known, status: stated.status });
  const configuration = known.kind === "Secret" ? withDefaults(stated) : stated;
  const next = applyConfiguration(known, configuration, writer, force);
  refuseImmutable(target, known, next);
  return put(cluster, target, completed(next));
}

function changed(
  cluster: Cluster,
  request: ObjectRequest,
  target: Target,
  known: KubernetesObject,
  next: KubernetesObject,
  moment: Moment,
): Change {
  if (target.subresource === "status") return put(cluster, target, next);
  refuseImmutable(target, known, next);
  return put(cluster, target, noteUpdate(known, completed(next), writerOf(request, moment)));
}

function completed(object: KubernetesObject): KubernetesObject {
  return withDefaults(object) as KubernetesObject;
}

/** Stores; an object that was only waiting for its last finalizer goes. */
function put(cluster: Cluster, target: Target, object: KubernetesObject): Change {
  const storage = storageName(target.resource);
  const { namespace, name, deletionTimestamp, finalizers } = object.metadata;
  const released = deletionTimestamp !== undefined && storage !== "pods" && storage !== "namespaces";
  if (released && (!Array.isArray(finalizers) || finalizers.length === 0)) {
    return { cluster: deleteObject(cluster, storage, namespace, name), object };
  }
  const next = updateObject(cluster, storage, object);
  return { cluster: next, object: storedIn(next, { ...target, name, namespace }) };
}

/** The server's own metadata stays; a status write touches the status only, any other leaves it. */
function merged(known: KubernetesObject, input: NewObject, subresource: string | undefined): KubernetesObject {
  if (subresource === "status") return { ...known, status: input.status };
  const { uid, resourceVersion, creationTimestamp, generation, managedFields, deletionTimestamp, name, namespace } =
    known.metadata;
  const server = given({
    name,
    namespace,
    uid,
    resourceVersion,
    creationTimestamp,
    generation,
    managedFields,
    deletionTimestamp,
  });
  const metadata = { ...input.metadata, ...server };
  const spec = known.kind === "Service" && isTree(input.spec) ? { spec: keepAddress(known, input.spec) } : {};
  const { status: _status, ...rest } = input;
  return given({ ...rest, ...spec, metadata, status: known.status });
}

/** A service that is written without its addresses keeps them. */
function keepAddress(known: KubernetesObject, spec: Tree): Tree {
  const held = tree(known.spec);
  const { clusterIP, clusterIPs } = held;
  return spec.type === "ExternalName" || clusterIP === undefined ? spec : { clusterIP, clusterIPs, ...spec };
}

function addressed(object: KubernetesObject, subnet: string): KubernetesObject {
  if (object.kind !== "Service" || !isTree(object.spec)) return object;
  if (object.spec.type === "ExternalName" || object.spec.clusterIP !== undefined) return object;
  const clusterIP = serviceAddress(subnet, object.metadata.uid);
  return { ...object, spec: { ...object.spec, clusterIP, clusterIPs: [clusterIP] } };
}

const fixedFields: Readonly<Record<string, readonly string[]>> = {
  Deployment: ["selector"],
  DaemonSet: ["selector"],
  ReplicaSet: ["selector"],
  StatefulSet: ["selector", "serviceName", "volumeClaimTemplates"],
  Job: ["selector", "template"],
};

function refuseImmutable({ resource, name = "" }: Target, known: KubernetesObject, next: KubernetesObject): void {
  const before = tree(known.spec);
  const after = tree(next.spec);
  const field = (fixedFields[resource.kind] ?? []).find(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  );
  if (field === undefined) return;
  const message = `${resource.kind}.${resource.group} "${name}" is invalid: spec.${field}: Invalid value: ${JSON.stringify(after[field] ?? null)}: field is immutable`;
  throw new ApiError("Invalid", message, { name, group: resource.group, kind: resource.kind });
}

function writerOf(request: ObjectRequest, moment: Moment): Writer {
  const manager = request.url.searchParams.get("fieldManager") ?? request.userAgent.split("/", 1)[0] ?? "";
  return { manager: manager === "" ? "unknown" : manager, time: timestamp(moment.now) };
}

interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: string;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

export function remove(request: ObjectRequest, target: Target, body: unknown): unknown {
  const options = (body ?? {}) as DeleteOptions;
  const asked = request.url.searchParams.get("propagationPolicy") ?? options.propagationPolicy;
  return commit(request, (cluster, moment) => {
    const object = storedIn(cluster, target);
    const { uid, resourceVersion } = options.preconditions ?? {};
    if ((uid ?? object.metadata.uid) !== object.metadata.uid) throw conflict(target);
    if ((resourceVersion ?? object.metadata.resourceVersion) !== object.metadata.resourceVersion)
      throw conflict(target);
    const ready = asked === "Orphan" ? orphaned(cluster, object) : cluster;
    return { cluster: removed(ready, target, object, options.gracePeriodSeconds === 0, moment), object };
  });
}

export function removeAll(
  request: ObjectRequest,
  target: Target,
  wanted: (object: KubernetesObject) => boolean,
  body: unknown,
): void {
  const atOnce = (body as DeleteOptions | null)?.gracePeriodSeconds === 0;
  const found = (cluster: Cluster): KubernetesObject[] =>
    listObjects(cluster, storageName(target.resource), target.namespace).filter(wanted);
  const [first] = found(clusterOf(request));
  if (first === undefined) return;
  commit(request, (cluster, moment) => ({
    object: first,
    cluster: found(cluster).reduce(
      (next, object) => removed(next, { ...target, namespace: object.metadata.namespace }, object, atOnce, moment),
      cluster,
    ),
  }));
}

/** Pods stop first and are gone later, namespaces go when they are empty, finalizers hold an object; everything else goes at once. */
function removed(cluster: Cluster, target: Target, object: KubernetesObject, atOnce: boolean, moment: Moment): Cluster {
  const storage = storageName(target.resource);
  const { finalizers } = object.metadata;
  const held = Array.isArray(finalizers) && finalizers.length > 0;
  if (storage === "pods" && !atOnce) return stopPod(cluster, object, moment);
  if (storage !== "namespaces" && !held) return deleteObject(cluster, storage, target.namespace, object.metadata.name);
  if (object.metadata.deletionTimestamp !== undefined) return cluster;
  const metadata = { ...object.metadata, deletionTimestamp: timestamp(moment.now) };
  const status = storage === "namespaces" ? { status: { phase: "Terminating" } } : {};
  return updateObject(cluster, storage, { ...object, metadata, ...status });
}

/** What the object owns no longer says so, and stays. */
function orphaned(cluster: Cluster, owner: KubernetesObject): Cluster {
  return Object.entries(cluster.objects).reduce((next, [key, object]) => {
    const owners = object.metadata.ownerReferences as readonly { readonly uid: string }[] | undefined;
    if (owners?.some(({ uid }) => uid === owner.metadata.uid) !== true) return next;
    const metadata = { ...object.metadata, ownerReferences: owners.filter(({ uid }) => uid !== owner.metadata.uid) };
    return updateObject(next, key.split("/", 1)[0] ?? "", { ...object, metadata });
  }, cluster);
}
