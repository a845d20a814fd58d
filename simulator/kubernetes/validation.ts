// SPDX-License-Identifier: Apache-2.0
import { type Tree, tree } from "../machine/world.ts";
import { unknownField } from "./known-fields.ts";
import { detailsOf, type ObjectRequest, type Target } from "./request.ts";
import { ApiError } from "./status.ts";
import type { NewObject } from "./store.ts";

/** Before anything else is asked: with `fieldValidation=Strict` a field that is not known is an error. */
export function refuseUnknownFields({ url }: ObjectRequest, object: NewObject): void {
  if (url.searchParams.get("fieldValidation") !== "Strict") return;
  const field = unknownField(object);
  if (field === undefined) return;
  const { kind, apiVersion } = object;
  const decoding = `strict decoding error: unknown field "${field}"`;
  throw new ApiError("BadRequest", `${kind} in version "${apiVersion}" cannot be handled as a ${kind}: ${decoding}`);
}

/** Server-side apply knows the schema of every built-in kind, and fails as a whole. */
export function refuseUntyped(object: NewObject): void {
  const field = unknownField(object);
  if (field === undefined) return;
  const { kind, apiVersion, metadata } = object;
  const where = `${metadata.namespace ?? ""}/${metadata.name}; ${apiVersion}, Kind=${kind}`;
  throw new ApiError(
    "InternalError",
    `failed to create typed patch object (${where}): .${field}: field not declared in schema`,
  );
}

/** Kinds whose names are those of hosts; others, such as roles, take more. */
const namedAsHosts: ReadonlySet<string> = new Set([
  "Pod",
  "ConfigMap",
  "Secret",
  "ServiceAccount",
  "Node",
  "Lease",
  "Deployment",
  "DaemonSet",
  "StatefulSet",
  "ReplicaSet",
  "Job",
  "PodDisruptionBudget",
]);
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** What the server says of an object that is understood and wrong all the same. */
export function validate({ resource }: Target, object: NewObject): void {
  const faults = [...nameFaults(object), ...podFaults(object)];
  if (faults.length === 0) return;
  const { name } = object.metadata;
  const causes = faults.map(({ field, message, reason }) => ({ reason, message, field }));
  const list = faults.map(({ field, message }) => `${field}: ${message}`);
  const said = list.length === 1 ? list[0] : `[${list.join(", ")}]`;
  const subject = resource.group === "" ? resource.kind : `${resource.kind}.${resource.group}`;
  throw new ApiError("Invalid", `${subject} "${name}" is invalid: ${said}`, {
    ...detailsOf(resource, name),
    kind: resource.kind,
    causes,
  });
}

interface Fault {
  readonly field: string;
  readonly message: string;
  readonly reason: string;
}

function nameFaults({ kind, metadata: { name } }: NewObject): readonly Fault[] {
  if (!namedAsHosts.has(kind) || (subdomain.test(name) && name.length <= 253)) return [];
  const rule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
  return [{ field: "metadata.name", message: `Invalid value: "${name}": ${rule}`, reason: "FieldValueInvalid" }];
}

function podFaults({ kind, spec }: NewObject): readonly Fault[] {
  if (kind !== "Pod") return [];
  const containers = tree(spec).containers;
  const required = (field: string): Fault => ({ field, message: "Required value", reason: "FieldValueRequired" });
  if (!Array.isArray(containers) || containers.length === 0) return [required("spec.containers")];
  return (containers as readonly Tree[]).flatMap(({ name, image }, index) => [
    ...(typeof name === "string" && name !== "" ? [] : [required(`spec.containers[${index}].name`)]),
    ...(typeof image === "string" && image !== "" ? [] : [required(`spec.containers[${index}].image`)]),
  ]);
}

const microTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/;

/** Times of leases have microseconds, and are not read without. */
export function refusePlainTimes(object: NewObject): void {
  if (object.kind !== "Lease") return;
  const { renewTime, acquireTime } = tree(object.spec);
  const bad = [renewTime, acquireTime].find(
    (time) => time !== undefined && time !== null && !microTime.test(String(time)),
  );
  if (bad === undefined) return;
  const parsing = `parsing time ${JSON.stringify(bad)} as "2006-01-02T15:04:05.000000Z07:00": cannot parse as ".000000"`;
  throw new ApiError("BadRequest", `Lease in version "v1" cannot be handled as a Lease: ${parsing}`);
}

/** Kinds that are never written over unseen. */
const conditional: ReadonlySet<string> = new Set(["Lease"]);

export function refuseUnconditional({ resource, name = "" }: Target, { metadata }: NewObject): void {
  if (!conditional.has(resource.kind) || (metadata.resourceVersion ?? "") !== "") return;
  const message = "metadata.resourceVersion: Invalid value: 0: must be specified for an update";
  throw new ApiError(
    "Invalid",
    `${resource.kind}.${resource.group} "${name}" is invalid: ${message}`,
    detailsOf(resource, name),
  );
}
