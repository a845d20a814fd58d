// SPDX-License-Identifier: Apache-2.0
import { type Fault, forbidden, refuse, required, unsupported } from "./object-rules.ts";
import type { ObjectRequest, Target } from "./request.ts";
import { ApiError } from "./status.ts";

const accepted = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
const written: ReadonlySet<string> = new Set(["POST", "PUT"]);

/** Throws for a request that is wrong whatever the objects are: its method, media types or options. */
export function requireSound(request: ObjectRequest, target: Target): void {
  requireMethod(request, target);
  const { accept, contentType, method } = request;
  if (!/^$|\*\/\*|json|yaml|protobuf|cbor/.test(accept))
    throw new ApiError("NotAcceptable", `406: Not Acceptable\n\nAvailable representations: ${accepted}`, {});
  if (written.has(method) && !/json|yaml|protobuf|cbor/.test(contentType)) {
    const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
    throw new ApiError("UnsupportedMediaType", message);
  }
  const kind = optionKinds[method];
  if (kind !== undefined) refuse({ group: "meta.k8s.io", kind, name: "" }, "", optionFaults(request));
}

/** A collection is listed, emptied and added to; an object is read, written and removed. */
function requireMethod({ method }: ObjectRequest, { resource, namespace, name, subresource }: Target): void {
  if (subresource === "eviction" ? method === "POST" : subresource !== undefined) return;
  const everywhere = resource.namespaced && namespace === undefined;
  const collection = everywhere ? ["GET"] : ["GET", "POST", "DELETE"];
  const allowed = name === undefined ? collection : subresource === undefined ? ["GET", "PUT", "PATCH", "DELETE"] : [];
  if (allowed.includes(method)) return;
  throw new ApiError("MethodNotAllowed", "the server does not allow this method on the requested resource", {});
}

const optionKinds: Readonly<Record<string, string>> = {
  GET: "ListOptions",
  POST: "CreateOptions",
  PUT: "UpdateOptions",
  PATCH: "PatchOptions",
  DELETE: "DeleteOptions",
};

function optionFaults(request: ObjectRequest): readonly Fault[] {
  const query = request.url.searchParams;
  if (request.method === "GET") return listFaults(query);
  const [dryRun, validation] = [query.getAll("dryRun"), query.get("fieldValidation") ?? ""];
  const faults: Fault[] = [];
  if (request.method === "PATCH") faults.push(...patchFaults(request));
  if (dryRun.some((value) => value !== "All")) faults.push(unsupported("dryRun", dryRun, ["All"]));
  if (!["", "Ignore", "Strict", "Warn"].includes(validation))
    faults.push(unsupported("fieldValidation", validation, ["", "Ignore", "Strict", "Warn"]));
  return faults;
}

function patchFaults({ url: { searchParams }, contentType }: ObjectRequest): readonly Fault[] {
  if (!contentType.includes("apply-patch"))
    return searchParams.has("force") ? [forbidden("force", "may not be specified for non-apply patch")] : [];
  const manager = searchParams.get("fieldManager") ?? "";
  return manager === "" ? [required("fieldManager", "is required for apply patch")] : [];
}

const notOlder = "NotOlderThan";

function listFaults(query: URLSearchParams): readonly Fault[] {
  const match = query.get("resourceVersionMatch") ?? "";
  const watching = /^(1|true)$/.test(query.get("watch") ?? "");
  if (!watching)
    return match === "" || ["Exact", notOlder].includes(match)
      ? []
      : [unsupported("resourceVersionMatch", match, ["Exact", notOlder, ""])];
  if (!query.has("sendInitialEvents") || match === notOlder) return [];
  return [forbidden("resourceVersionMatch", `sendInitialEvents requires setting resourceVersionMatch to ${notOlder}`)];
}
