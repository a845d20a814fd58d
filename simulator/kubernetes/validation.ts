// SPDX-License-Identifier: Apache-2.0
import { type Tree, tree } from "../machine/world.ts";
import type { ApiResource } from "./api-resources.ts";
import { customFields } from "./custom-objects.ts";
import { unknownField } from "./known-fields.ts";
import { faultsOf, invalid, refuse } from "./object-rules.ts";
import { clusterOf, type ObjectRequest, type Target } from "./request.ts";
import { ApiError } from "./status.ts";
import type { NewObject } from "./store.ts";

/** Before anything else is asked: with `fieldValidation=Strict` a field that is not known is an error. */
export function refuseUnknownFields(request: ObjectRequest, { resource }: Target, object: NewObject): void {
  if (request.url.searchParams.get("fieldValidation") !== "Strict") return;
  const fields = customFields(clusterOf(request), resource);
  const field = fields === undefined ? unknownField(object) : Object.keys(object).find((key) => isStrange(key, fields));
  if (field === undefined) return;
  throw undecodable(object, `strict decoding error: unknown field "${field}"`);
}

const isStrange = (key: string, fields: Tree) =>
  !["apiVersion", "kind", "metadata"].includes(key) && fields[key] === undefined;

/** What the server says of an object that it cannot read. */
function undecodable({ kind, apiVersion }: NewObject, why: string): ApiError {
  const version = apiVersion.split("/").at(-1);
  return new ApiError("BadRequest", `${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
}

/** Server-side apply knows the schema of every built-in kind, and fails as a whole. */
export function refuseUntyped({ group, version }: ApiResource, object: NewObject): void {
  const field = unknownField(object);
  if (field === undefined) return;
  const { kind, metadata } = object;
  const where = `${metadata.namespace ?? ""}/${metadata.name}; ${group}/${version}, Kind=${kind}`;
  throw new ApiError(
    "InternalError",
    `failed to create typed patch object (${where}): .${field}: field not declared in schema`,
  );
}

export function validate({ resource }: Target, object: NewObject): void {
  refuse(resource, object.metadata.name, faultsOf(object));
}

const microTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/;

/** Throws for values that the server cannot read: times, encoded data, flags. */
export function refuseUndecodable(object: NewObject): void {
  const { data, spec } = object;
  const { renewTime, acquireTime, hostNetwork } = tree(spec);
  const bad = [renewTime, acquireTime].find(
    (time) => time !== undefined && time !== null && !microTime.test(String(time)),
  );
  // Times of leases have microseconds, and are not read without.
  if (object.kind === "Lease" && bad !== undefined) {
    const format = '"2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"';
    throw undecodable(object, `parsing time ${JSON.stringify(bad)} as ${format}`);
  }
  const values = Object.values(tree(data));
  const wrong =
    (object.kind === "ConfigMap" && values.some((value) => typeof value !== "string")) ||
    (object.kind === "Secret" && values.some((value) => !base64.test(String(value)))) ||
    (object.kind === "Pod" && hostNetwork !== undefined && typeof hostNetwork !== "boolean");
  if (wrong) throw undecodable(object, "json: cannot unmarshal a value of another type");
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Kinds that are never written over unseen. */
const conditional: ReadonlySet<string> = new Set(["Lease"]);

export function refuseUnconditional({ resource, name = "" }: Target, { metadata }: NewObject): void {
  if (!conditional.has(resource.kind) || (metadata.resourceVersion ?? "") !== "") return;
  // Here the server calls the kind by the name of its resource.
  refuse({ ...resource, kind: resource.name }, name, [
    invalid("metadata.resourceVersion", "0", "must be specified for an update"),
  ]);
}
