// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import type { Cluster } from "../machine/world.ts";
import type { ApiResource } from "./api-resource.ts";
import { apiResources, apiVersionOf } from "./api-resources.ts";

/**
 * The OpenAPI documents, as far as clients plan with them: which paths take which patches and that the server checks fields.
 * They describe no fields: `kubectl explain` finds nothing.
 */
export function openApi(cluster: Cluster | undefined, path: string): unknown {
  const resources = apiResources(cluster);
  if (path === "/openapi/v3") {
    const versions = [...new Set(resources.map(apiVersionOf))];
    const hash = createHash("sha256").update(versions.join()).digest("hex").slice(0, 16);
    return {
      paths: Object.fromEntries(
        versions.map((version) => {
          const root = `${version.includes("/") ? "apis" : "api"}/${version}`;
          return [root, { serverRelativeURL: `/openapi/v3/${root}?hash=${hash}` }];
        }),
      ),
    };
  }
  const [, version] = /^\/openapi\/v3\/apis?\/(.+)$/.exec(path) ?? [];
  const held = resources.filter((resource) => apiVersionOf(resource) === version);
  if (held.length === 0) return undefined;
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "simulated" },
    paths: Object.fromEntries(held.map((resource) => [pathOf(resource), { patch: patchOf(resource) }])),
    components: { schemas: {} },
  };
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
