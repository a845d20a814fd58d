// SPDX-License-Identifier: Apache-2.0
import type { Cluster, KubernetesObject } from "../machine/world.ts";
import type { ApiResource } from "./api-resource.ts";
import { listObjects } from "./store.ts";

export const definitionStorage = "customresourcedefinitions.apiextensions.k8s.io";

interface DefinitionSpec {
  readonly group?: string;
  readonly scope?: string;
  readonly names?: {
    readonly plural?: string;
    readonly kind?: string;
    readonly singular?: string;
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  };
  readonly versions?: readonly { readonly name: string; readonly served?: boolean; readonly storage?: boolean }[];
}

/** The resources that the cluster's custom resource definitions add, one per served version. */
export function customResources(cluster: Cluster | undefined): readonly ApiResource[] {
  return listObjects(cluster, definitionStorage).flatMap((definition) => {
    const { group = "", scope, names = {}, versions = [] } = specOf(definition);
    const kind = names.kind ?? "";
    return versions
      .filter((version) => version.served !== false)
      .map((version) => ({
        group,
        version: version.name,
        name: names.plural ?? "",
        kind,
        namespaced: scope !== "Cluster",
        singular: names.singular ?? kind.toLowerCase(),
        shortNames: names.shortNames ?? [],
        categories: names.categories ?? [],
      }));
  });
}

/** The status of a definition whose names are taken and whose resources are served. */
export function establishedStatus(definition: KubernetesObject, at: string): Readonly<Record<string, unknown>> {
  const { names = {}, versions = [] } = specOf(definition);
  const condition = (type: string, reason: string, message: string): Readonly<Record<string, unknown>> => ({
    type,
    status: "True",
    reason,
    message,
    lastTransitionTime: at,
  });
  return {
    acceptedNames: { listKind: `${names.kind ?? ""}List`, singular: (names.kind ?? "").toLowerCase(), ...names },
    conditions: [
      condition("NamesAccepted", "NoConflicts", "no conflicts found"),
      condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
    ],
    storedVersions: versions.filter((version) => version.storage === true).map((version) => version.name),
  };
}

function specOf(definition: KubernetesObject): DefinitionSpec {
  return (definition.spec ?? {}) as DefinitionSpec;
}
