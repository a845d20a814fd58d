// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import type { Cluster } from "../machine/world.ts";
import type { ApiResource } from "./api-resource.ts";
import { apiResources, apiVersionOf } from "./api-resources.ts";
import { reviewResources } from "./reviews.ts";

type Tree = Readonly<Record<string, unknown>>;

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const scalable = ["deployments", "replicasets", "statefulsets", "replicationcontrollers"];

/** Paths that tell clients what the server offers; undefined for any other path. */
export function discover(cluster: Cluster | undefined, path: string, kubernetesVersion: string): unknown {
  if (path === "/version") return versionInfo(kubernetesVersion);
  if (path === "/api") return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
  const resources = [...apiResources(cluster), ...reviewResources];
  if (path === "/apis") {
    const names = [...new Set(resources.map((resource) => resource.group))].filter((group) => group !== "");
    return { kind: "APIGroupList", apiVersion: "v1", groups: names.map((name) => groupObject(resources, name)) };
  }
  if (path === "/api/v1") return resourceList(resources, "", "v1");
  const [, group, version] = /^\/apis\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
  const known = resources.filter((resource) => resource.group === group);
  if (group === undefined || known.length === 0) return undefined;
  if (version === undefined) return { kind: "APIGroup", apiVersion: "v1", ...groupObject(resources, group) };
  return known.some((resource) => resource.version === version) ? resourceList(resources, group, version) : undefined;
}

function groupObject(resources: readonly ApiResource[], name: string): Tree {
  const held = resources.filter((resource) => resource.group === name).map((resource) => resource.version);
  const versions = [...new Set(held)].map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions, preferredVersion: versions[0] };
}

function resourceList(resources: readonly ApiResource[], group: string, version: string): Tree {
  const held = resources.filter((resource) => resource.group === group && resource.version === version);
  const groupVersion = apiVersionOf({ group, version });
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion, resources: held.flatMap(entries) };
}

function entries(resource: ApiResource): Tree[] {
  const { name, kind, namespaced, singular, shortNames, categories } = resource;
  const main = given({
    name,
    singularName: singular,
    namespaced,
    kind,
    verbs: reviewResources.includes(resource) ? ["create"] : verbs,
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
  return [
    main,
    below("status", writable),
    ...(scalable.includes(name)
      ? [below("scale", writable, { group: "autoscaling", version: "v1", kind: "Scale" })]
      : []),
    ...(name === "pods" && resource.group === ""
      ? [below("eviction", ["create"], { group: "policy", version: "v1", kind: "Eviction" }), below("log", ["get"])]
      : []),
  ];
}

function versionInfo(version: string): Tree {
  const [, major = "1", minor = "0"] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  return {
    major,
    minor,
    gitVersion: version,
    gitCommit: "simulated",
    gitTreeState: "clean",
    buildDate: "2026-01-01T00:00:00Z",
    goVersion: "go1.26.8",
    compiler: "gc",
    platform: "linux/amd64",
  };
}
