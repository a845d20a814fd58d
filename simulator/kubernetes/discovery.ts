// SPDX-License-Identifier: Apache-2.0
import { type ApiResource, apiResources } from "./api-resources.ts";

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/** Paths that tell clients what the server offers; undefined for any other path. */
export function discover(path: string, kubernetesVersion: string): unknown {
  if (path === "/version") return versionInfo(kubernetesVersion);
  if (path === "/api") return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
  if (path === "/apis") return { kind: "APIGroupList", apiVersion: "v1", groups: groups().map(groupObject) };
  if (path === "/api/v1") return resourceList("", "v1");
  const [, group, version] = /^\/apis\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
  if (group === undefined || !groups().includes(group)) return undefined;
  if (version === undefined) return { kind: "APIGroup", apiVersion: "v1", ...groupObject(group) };
  return version === "v1" ? resourceList(group, version) : undefined;
}

function groups(): string[] {
  return [...new Set(apiResources.map((resource) => resource.group))].filter((group) => group !== "");
}

function groupObject(name: string): Readonly<Record<string, unknown>> {
  const version = { groupVersion: `${name}/v1`, version: "v1" };
  return { name, versions: [version], preferredVersion: version };
}

function resourceList(group: string, version: string): Readonly<Record<string, unknown>> {
  const resources = apiResources.filter((resource) => resource.group === group).flatMap(entries);
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: group === "" ? version : `${group}/${version}`,
    resources,
  };
}

function entries(resource: ApiResource): Readonly<Record<string, unknown>>[] {
  const { name, kind, namespaced, singular, shortNames, categories } = resource;
  const main = {
    name,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
  };
  const status = { name: `${name}/status`, singularName: "", namespaced, kind, verbs: ["get", "patch", "update"] };
  if (name !== "pods") return [main, status];
  const eviction = {
    name: "pods/eviction",
    singularName: "",
    namespaced,
    group: "policy",
    version: "v1",
    kind: "Eviction",
    verbs: ["create"],
  };
  return [main, status, eviction];
}

function versionInfo(version: string): Readonly<Record<string, unknown>> {
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
