// SPDX-License-Identifier: Apache-2.0
import { GetResponse, ListResponse, type StateService } from "../../talos/api/gen/cosi/resource.ts";
import {
  ControllerRuntimeDependenciesResponse,
  DependencyEdgeType,
  type InspectServiceService,
} from "../../talos/api/gen/inspect/inspect.ts";
import { CallError } from "../machine/call-error.ts";
import type { Identity } from "../machine/world.ts";
import { Catalogue, producedTypes } from "../resources/catalogue.ts";
import { namespaces, resourceType } from "../resources/definitions.ts";
import type { StoredResource } from "../resources/stored-resource.ts";
import type { Call, Handlers } from "./method.ts";
import { encodeResource, matches } from "./resource-query.ts";
import { watchResources } from "./watch-resources.ts";

/** One for as long as the machine exists: of all it has, its first certificate is what stays the same object. */
const catalogues = new WeakMap<Identity, Catalogue>();

function catalogueOf(call: Call): Catalogue {
  const { maintenance } = call.machine();
  const catalogue = catalogues.get(maintenance) ?? new Catalogue(call.machineId);
  catalogues.set(maintenance, catalogue);
  return catalogue;
}

const knownNamespaces: ReadonlySet<string> = new Set(namespaces.map((namespace) => namespace.id));

/** Who may read what, in the order of the real checks. */
function authorize(call: Call, namespace: string, type: string): void {
  if (!knownNamespaces.has(namespace))
    throw new CallError("PermissionDenied", `namespace "${namespace}" is not supported`);
  const known = resourceType(type);
  if (known === undefined) throw new CallError("PermissionDenied", `resource type "${type}" is not supported`);
  if (known.secret && !call.roles.has("os:admin")) throw new CallError("PermissionDenied", "not authorized");
}

function current(call: Call, namespace: string, type: string): StoredResource[] {
  const all = catalogueOf(call).list(call.world(), type, call.simulation.moment.now);
  return [...all.values()]
    .filter((resource) => resource.namespace === namespace)
    .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

/** Write methods all fail alike. */
function refuseWrite(): never {
  throw new CallError("PermissionDenied", "write access is not allowed");
}

export const stateMethods: Handlers<typeof StateService> = {
  get(call, { namespace, type, id }) {
    authorize(call, namespace, type);
    const resource = current(call, namespace, type).find((candidate) => candidate.id === id);
    if (resource === undefined) throw notFound(namespace, type, id);
    return GetResponse.fromPartial({ resource: encodeResource(resource) });
  },

  async *list(call, { namespace, type, options }) {
    authorize(call, namespace, type);
    for (const resource of current(call, namespace, type)) {
      if (matches(resource, options)) yield ListResponse.fromPartial({ resource: encodeResource(resource) });
    }
  },

  async *watch(call, request) {
    authorize(call, request.namespace, request.type);
    yield* watchResources(call, request, catalogueOf(call), current);
  },

  create: refuseWrite,
  update: refuseWrite,
  destroy: refuseWrite,
};

function notFound(namespace: string, type: string, id: string): CallError {
  return new CallError("NotFound", `resource ${type}(${namespace}/${id}@undefined) doesn't exist`);
}

/** Which controller puts out which resources. What each reads is not modelled, so there are no input edges. */
export const inspectMethods: Handlers<typeof InspectServiceService> = {
  controllerRuntimeDependencies() {
    const edges = producedTypes().map(({ owner, namespace, type }) => ({
      controllerName: owner,
      edgeType: DependencyEdgeType.OUTPUT_EXCLUSIVE,
      resourceNamespace: namespace,
      resourceType: type,
      resourceId: "",
    }));
    return ControllerRuntimeDependenciesResponse.fromPartial({ messages: [{ edges }] });
  },
};
