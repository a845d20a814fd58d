// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import { randomHex } from "../machine/chance.ts";
import type { Moment } from "../machine/timings.ts";
import { type Cluster, isTree, type KubernetesObject, type Tree, tree, valueAt } from "../machine/world.ts";
import { apiVersionOf, isCustom, storageName } from "./api-resources.ts";
import { pruned, refuseCustom, withCustomDefaults } from "./custom-objects.ts";
import { serviceAddress, withDefaults } from "./defaults.ts";
import { tokenSecretType } from "./identity.ts";
import { applyConfiguration, noteUpdate, type Writer } from "./managed-fields.ts";
import { forbidden, invalid, refuse, required, unsupported } from "./object-rules.ts";
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
  strangerError,
  type Target,
  wrongKind,
} from "./request.ts";
import { ApiError, notServed } from "./status.ts";
import {
  createObject,
  deleteObject,
  getObject,
  listObjects,
  type NewObject,
  timestamp,
  updateObject,
} from "./store.ts";
import { refuseUnconditional, refuseUndecodable, refuseUnknownFields, refuseUntyped, validate } from "./validation.ts";

export function createFrom(request: ObjectRequest, target: Target, input: NewObject): NewObject {
  const object = commit(request, (cluster, moment) => created(cluster, request, target, input, moment));
  if (request.url.searchParams.get("dryRun") === null) return object;
  // What was not stored has no revision.
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function created(cluster: Cluster, request: ObjectRequest, target: Target, input: NewObject, moment: Moment): Change {
  const storage = storageName(target.resource);
  refuseUnknownFields(request, target, input);
  refuseUndecodable(input);
  const object = withAccess(admitted(cluster, target, named(input, target, moment)), moment);
  const { name } = object.metadata;
  requireAccount(cluster, target, object);
  validate(target, object);
  refuseCustom(cluster, target.resource, object);
  if (getObject(cluster, storage, target.namespace, name) !== undefined) {
    throw new ApiError("AlreadyExists", `${storage} "${name}" already exists`, detailsOf(target.resource, name));
  }
  const whole = withCustomDefaults(cluster, target.resource, pruned(cluster, target.resource, object));
  const made = createObject(cluster, storage, withDefaults(whole), moment);
  const noted = noteUpdate(undefined, storedIn(made, { ...target, name }), writerOf(request, moment));
  return put(made, { ...target, name }, addressed(noted, request.serviceSubnet));
}

/** A Secret for the token of a service account is given one, and a pod what it needs to use the API. */
function withAccess(object: NewObject, moment: Moment): NewObject {
  if (object.kind === "Pod") return { ...object, spec: withAccount(tree(object.spec)) };
  if (object.kind !== "Secret" || object.type !== tokenSecretType) return object;
  const token = Buffer.from(randomHex(moment.entropy, 32)).toString("base64");
  return { ...object, data: { ...(object.data as object | undefined), token } };
}

/** A pod runs as a service account, which must be there before. */
function requireAccount(cluster: Cluster, { namespace, resource }: Target, object: NewObject): void {
  if (object.kind !== "Pod") return;
  const account = String(tree(object.spec).serviceAccountName ?? "default");
  // That of a new namespace is made a moment later, and no controller here tries again.
  if (account === "default" || getObject(cluster, "serviceaccounts", namespace, account) !== undefined) return;
  const { name } = object.metadata;
  const message = `pods "${name}" is forbidden: error looking up service account ${namespace}/${account}: serviceaccount "${account}" not found`;
  throw new ApiError("Forbidden", message, detailsOf(resource, name));
}

/** `generateName` gets its five letters. */
function named(input: NewObject, { resource }: Target, moment: Moment): NewObject {
  const { generateName } = input.metadata;
  if (input.metadata.name !== "") return input;
  if (typeof generateName === "string" && generateName !== "") {
    return {
      ...input,
      metadata: { ...input.metadata, name: `${generateName}${randomHex(moment.entropy, 3).slice(0, 5)}` },
    };
  }
  refuse(resource, "", [required("metadata.name", "name or generateName is required")]);
  return input;
}

/** Where the object belongs, and that this place exists. */
function admitted(cluster: Cluster, { resource, namespace }: Target, object: NewObject): NewObject {
  const { kind, apiVersion } = object;
  if (kind !== resource.kind) throw wrongKind(kind, resource.kind, apiVersion);
  if (apiVersion !== apiVersionOf(resource)) {
    const why = `no kind "${kind}" is registered for version "${apiVersion}"`;
    throw new ApiError("BadRequest", `${kind} in version "${apiVersion}" cannot be handled as a ${kind}: ${why}`);
  }
  if (!resource.namespaced) return { ...object, apiVersion };
  if (namespace === undefined) throw notServed();
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
  requireName(target, input);
  refuseUnknownFields(request, target, input);
  refuseUndecodable(input);
  if (target.subresource === undefined) refuseUnconditional(target, input);
  return commit(request, (cluster, moment) => {
    const known = storedIn(cluster, target);
    const { uid, resourceVersion: expected } = input.metadata;
    if (uid !== undefined && uid !== "" && uid !== known.metadata.uid) throw conflict(target);
    if (expected !== undefined && expected !== "" && expected !== known.metadata.resourceVersion)
      throw conflict(target);
    return changed(cluster, request, target, known, merged(known, input, target.subresource), moment);
  });
}

/** The object has the name of its path. */
function requireName({ name = "" }: Target, { metadata }: NewObject): void {
  if (metadata.name === name || metadata.name === "") return;
  const message = `the name of the object (${metadata.name}) does not match the name on the URL (${name})`;
  throw new ApiError("BadRequest", message);
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
    throw new ApiError("UnsupportedMediaType", "415: Unsupported Media Type", {});
  if (isCustom(target.resource) && request.contentType.startsWith("application/strategic-merge-patch")) {
    const types = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
    const message = `the body of the request was in an unknown format - accepted media types include: ${types}`;
    throw new ApiError("UnsupportedMediaType", message);
  }
  let isNew = false;
  const object = commit(request, (cluster, moment) => {
    const known = getObject(cluster, storageName(target.resource), target.namespace, target.name ?? "");
    isNew = known === undefined;
    if (applying) return applied(cluster, request, target, known, objectOf(input, target), moment);
    if (known === undefined) throw missing(target.resource, target.name ?? "");
    const expected = valueAt(input, ["metadata", "resourceVersion"]);
    if (typeof expected === "string" && expected !== known.metadata.resourceVersion) throw conflict(target);
    const patched = applyPatch(known, request.contentType, input) as KubernetesObject;
    requireName(target, patched);
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
  const manager = request.url.searchParams.get("fieldManager") ?? "";
  if (input.metadata.managedFields !== undefined)
    throw new ApiError("BadRequest", "metadata.managedFields must be nil");
  requireName(target, input);
  refuseUntyped(target.resource, input);
  const writer = { manager, time: timestamp(moment.now) };
  const force = request.url.searchParams.get("force") === "true";
  const stated = admitted(cluster, target, { ...input, metadata: { ...input.metadata, name: target.name ?? "" } });
  if (known === undefined) {
    validate(target, stated);
    const whole = withCustomDefaults(cluster, target.resource, stated);
    const made = createObject(cluster, storageName(target.resource), withDefaults(whole), moment);
    const stored = addressed(storedIn(made, target), request.serviceSubnet);
    return put(made, target, applyConfiguration(stored, stated, writer, force));
  }
  if (target.subresource === "status") return put(cluster, target, { ...known, status: stated.status });
  const configuration = known.kind === "Secret" ? withDefaults(stated) : stated;
  const next = applyConfiguration(known, configuration, writer, force);
  refuseImmutable(target, known, next);
  return put(cluster, target, completed(withCustomDefaults(cluster, target.resource, next)));
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
  const whole = completed(withCustomDefaults(cluster, target.resource, next));
  return put(cluster, target, noteUpdate(known, whole, writerOf(request, moment)));
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
  if (object.spec.type === "ExternalName") return object;
  const clusterIP = object.spec.clusterIP ?? serviceAddress(subnet, object.metadata.uid);
  const families = { ipFamilies: [subnet.includes(":") ? "IPv6" : "IPv4"], ipFamilyPolicy: "SingleStack" };
  return { ...object, spec: { ...families, clusterIPs: [clusterIP], ...object.spec, clusterIP } };
}

const fixedFields: Readonly<Record<string, readonly string[]>> = {
  Deployment: ["selector"],
  DaemonSet: ["selector"],
  ReplicaSet: ["selector"],
  StatefulSet: ["selector", "serviceName", "volumeClaimTemplates"],
  Job: ["selector", "template"],
};

function refuseImmutable(target: Target, known: KubernetesObject, next: KubernetesObject): void {
  const { resource, name = "" } = target;
  if (known.immutable === true) {
    const changed = ["immutable", "data", "binaryData"].filter(
      (key) => JSON.stringify(known[key]) !== JSON.stringify(next[key]),
    );
    refuse(
      resource,
      name,
      changed.map((key) => forbidden(key, "field is immutable when `immutable` is set")),
    );
  }
  if (resource.kind === "Secret" && known.type !== next.type)
    refuse(resource, name, [invalid("type", JSON.stringify(next.type), "field is immutable")]);
  const before = tree(known.spec);
  const after = tree(next.spec);
  if (resource.kind === "Pod") refusePodChange(target, before, after);
  const field = (fixedFields[resource.kind] ?? []).find(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  );
  if (field === undefined) return;
  refuse(resource, name, [invalid(`spec.${field}`, JSON.stringify(after[field] ?? null), "field is immutable")]);
}

/** What of a running pod may change; the kubelet follows nothing else. */
function refusePodChange(target: Target, before: Tree, after: Tree): void {
  const fixed = ({ containers, tolerations: _t, terminationGracePeriodSeconds: _g, ...rest }: Tree) =>
    JSON.stringify([rest, (Array.isArray(containers) ? (containers as readonly Tree[]) : []).map(({ name }) => name)]);
  if (fixed(before) === fixed(after)) return;
  refuse(target.resource, target.name ?? "", [
    forbidden("spec", "pod updates may not change fields other than those of a few that are listed in its reference"),
  ]);
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

/** Kinds of which the server answers with the object that is gone; of others only that it is. */
const answeredWhole: ReadonlySet<string> = new Set([
  ...["pods", "services", "serviceaccounts", "persistentvolumes", "persistentvolumeclaims", "podtemplates"],
  ...["resourcequotas", "customresourcedefinitions.apiextensions.k8s.io"],
]);

/** Namespaces that the server itself needs. */
const lasting: ReadonlySet<string> = new Set(["default", "kube-system", "kube-public"]);

export function remove(request: ObjectRequest, target: Target, body: unknown): unknown {
  const options = (body ?? {}) as DeleteOptions;
  const asked = request.url.searchParams.get("propagationPolicy") ?? options.propagationPolicy;
  const policies = ["Foreground", "Background", "Orphan", "nil"];
  if (asked !== undefined && !policies.includes(asked))
    refuse({ group: "meta.k8s.io", kind: "DeleteOptions", name: "" }, "", [
      unsupported("propagationPolicy", asked, policies),
    ]);
  let isGone = false;
  const object = commit(request, (cluster, moment) => {
    const object = storedIn(cluster, target);
    if (target.resource.kind === "Namespace" && lasting.has(object.metadata.name)) {
      const message = `namespaces "${object.metadata.name}" is forbidden: this namespace may not be deleted`;
      throw new ApiError("Forbidden", message, detailsOf(target.resource, object.metadata.name));
    }
    const { uid, resourceVersion } = options.preconditions ?? {};
    if ((uid ?? object.metadata.uid) !== object.metadata.uid)
      throw strangerError(target, String(uid), object.metadata.uid);
    if ((resourceVersion ?? object.metadata.resourceVersion) !== object.metadata.resourceVersion)
      throw conflict(target);
    const ready = asked === "Orphan" ? orphaned(cluster, object) : cluster;
    const next = removed(ready, target, object, options.gracePeriodSeconds === 0, moment);
    const left = getObject(next, storageName(target.resource), target.namespace, object.metadata.name);
    isGone = left === undefined;
    return { cluster: next, object: left ?? object };
  });
  // In the foreground the object stays until what it owns is gone.
  const isWhole = asked === "Foreground" || answeredWhole.has(storageName(target.resource));
  if (!isGone || isWhole) return object;
  const details = { ...detailsOf(target.resource, object.metadata.name), uid: object.metadata.uid };
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}

export function removeAll(
  request: ObjectRequest,
  target: Target,
  wanted: (object: KubernetesObject) => boolean,
  body: unknown,
): readonly KubernetesObject[] {
  const atOnce = (body as DeleteOptions | null)?.gracePeriodSeconds === 0;
  const found = (cluster: Cluster): KubernetesObject[] =>
    listObjects(cluster, storageName(target.resource), target.namespace).filter(wanted);
  const all = found(clusterOf(request));
  const [first] = all;
  if (first === undefined) return [];
  commit(request, (cluster, moment) => ({
    object: first,
    cluster: found(cluster).reduce(
      (next, object) => removed(next, { ...target, namespace: object.metadata.namespace }, object, atOnce, moment),
      cluster,
    ),
  }));
  return all;
}

/** Pods stop first and are gone later, namespaces go when they are empty, finalizers hold an object; everything else goes at once. */
function removed(cluster: Cluster, target: Target, object: KubernetesObject, atOnce: boolean, moment: Moment): Cluster {
  const storage = storageName(target.resource);
  const { finalizers } = object.metadata;
  const held = Array.isArray(finalizers) && finalizers.length > 0;
  if (storage === "pods" && !atOnce) return stopPod(cluster, object, moment);
  if (storage !== "namespaces" && !held) return deleteObject(cluster, storage, target.namespace, object.metadata.name);
  if (object.metadata.deletionTimestamp !== undefined) return cluster;
  const metadata = {
    ...object.metadata,
    deletionTimestamp: timestamp(moment.now),
    ...(storage === "namespaces" ? {} : { deletionGracePeriodSeconds: 0 }),
  };
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
