// SPDX-License-Identifier: Apache-2.0

import { createHash } from "node:crypto";
import { given } from "../../talos/given.ts";
import type { Cluster, Tree } from "../machine/world.ts";
import { type ApiResource, apiResources, apiVersionOf, hasStatus } from "./api-resources.ts";
import { scalePathsOf } from "./custom-objects.ts";
import { reviewResources } from "./identity.ts";

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const scalable = ["deployments", "replicasets", "statefulsets", "replicationcontrollers"];

/** What a server says of itself. */
interface ServerFacts {
  readonly address: string;
  readonly version: string;
}

/** Paths that tell clients what the server offers; undefined for any other path. */
export function discover(cluster: Cluster | undefined, path: string, server: ServerFacts): unknown {
  if (path === "/")
    return { paths: ["/api", "/api/v1", "/apis", "/healthz", "/livez", "/openapi/v3", "/readyz", "/version"] };
  if (path === "/version") return versionInfo(server.version);
  if (path === "/api") {
    const serverAddressByClientCIDRs = [{ clientCIDR: "0.0.0.0/0", serverAddress: `${server.address}:6443` }];
    return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs };
  }
  const resources = [...apiResources(cluster), ...reviewResources];
  if (path === "/apis") {
    const names = [...new Set(resources.map((resource) => resource.group))].filter((group) => group !== "");
    return { kind: "APIGroupList", apiVersion: "v1", groups: names.map((name) => groupObject(resources, name)) };
  }
  if (path === "/api/v1") return resourceList(cluster, resources, "", "v1");
  const [, group, version] = /^\/apis\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
  const known = resources.filter((resource) => resource.group === group);
  if (group === undefined || known.length === 0) return undefined;
  if (version === undefined) return { kind: "APIGroup", apiVersion: "v1", ...groupObject(resources, group) };
  return known.some((resource) => resource.version === version)
    ? resourceList(cluster, resources, group, version)
    : undefined;
}

function groupObject(resources: readonly ApiResource[], name: string): Tree {
  const held = resources.filter((resource) => resource.group === name).map((resource) => resource.version);
  const versions = [...new Set(held)].map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions, preferredVersion: versions[0] };
}

const hasScale = (cluster: Cluster | undefined, resource: ApiResource): boolean =>
  scalable.includes(resource.name) || (cluster !== undefined && scalePathsOf(cluster, resource) !== undefined);

function resourceList(
  cluster: Cluster | undefined,
  resources: readonly ApiResource[],
  group: string,
  version: string,
): Tree {
  const held = resources.filter((resource) => resource.group === group && resource.version === version);
  const groupVersion = apiVersionOf({ group, version });
  const resourcesOf = (resource: ApiResource) => entries(resource, hasScale(cluster, resource));
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion, resources: held.flatMap(resourcesOf) };
}

/** Namespaces are deleted one by one. */
const verbsOf = ({ kind }: ApiResource) =>
  kind === "Namespace" ? verbs.filter((verb) => verb !== "deletecollection") : verbs;

function entries(resource: ApiResource, hasScaling: boolean): Tree[] {
  const { name, kind, namespaced, singular, shortNames, categories } = resource;
  const main = given({
    name,
    singularName: singular,
    namespaced,
    kind,
    verbs: reviewResources.includes(resource) ? ["create"] : verbsOf(resource),
    shortNames: shortNames.length > 0 ? shortNames : undefined,
    categories: categories.length > 0 ? categories : undefined,
  });
  if (reviewResources.includes(resource)) return [main];
  const below = (part: string, theirs: readonly string[], more: Tree = {}): Tree => ({
    name: `${name}/${part}`,
    singularName: "",
    namespaced,
    kind,
    verbs: theirs,
    ...more,
  });
  const writable = ["get", "patch", "update"];
  const held = hasStatus(resource) ? [main, below("status", writable)] : [main];
  if (hasScaling) held.push(below("scale", writable, { group: "autoscaling", version: "v1", kind: "Scale" }));
  if (name === "pods" && resource.group === "")
    held.push(
      below("eviction", ["create"], { group: "policy", version: "v1", kind: "Eviction" }),
      below("log", ["get"]),
    );
  return held;
}

function versionInfo(version: string): Tree {
  const [, major = "1", minor = "0"] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion: version,
    gitCommit: "simulated",
    gitTreeState: "clean",
    buildDate: "2026-01-01T00:00:00Z",
    goVersion: "go1.26.8",
    compiler: "gc",
    platform: "linux/amd64",
  };
}

/**
 * The OpenAPI documents, as far as clients plan with them: which paths take which patches and that the server checks fields.
 * They describe no fields: `kubectl explain` finds nothing.
 */
export function openApi(
  cluster: Cluster | undefined,
  path: string,
): { readonly type: string; readonly document: Tree } | undefined {
  const resources = apiResources(cluster);
  if (path === "/openapi/v3") {
    const versions = [...new Set(resources.map(apiVersionOf))];
    const hash = createHash("sha256").update(versions.join()).digest("hex").slice(0, 16);
    const paths = Object.fromEntries(
      versions.map((version) => {
        const root = `${version.includes("/") ? "apis" : "api"}/${version}`;
        return [root, { serverRelativeURL: `/openapi/v3/${root}?hash=${hash}` }];
      }),
    );
    return { type: "text/plain; charset=utf-8", document: { paths } };
  }
  const [, version] = /^\/openapi\/v3\/apis?\/(.+)$/.exec(path) ?? [];
  const held = resources.filter((resource) => apiVersionOf(resource) === version);
  if (held.length === 0) return undefined;
  const document = {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "simulated" },
    paths: Object.fromEntries(held.map((resource) => [pathOf(resource), { patch: patchOf(resource) }])),
    components: { schemas: {} },
  };
  return { type: "application/json", document };
}

function pathOf(resource: ApiResource): string {
  const root = `/${resource.group === "" ? "api" : "apis"}/${apiVersionOf(resource)}`;
  return `${root}${resource.namespaced ? "/namespaces/{namespace}" : ""}/${resource.name}/{name}`;
}

function patchOf({ group, version, kind }: ApiResource): unknown {
  const query = ["dryRun", "fieldManager", "fieldValidation", "force"];
  return {
    parameters: query.map((name) => ({ name, in: "query", schema: { type: name === "force" ? "boolean" : "string" } })),
    responses: { 200: { description: "OK" } },
    "x-kubernetes-action": "patch",
    "x-kubernetes-group-version-kind": { group, version, kind },
  };
}
