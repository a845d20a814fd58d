// SPDX-License-Identifier: Apache-2.0
import { type LabelQuery, LabelTerm_Operation, Resource } from "../../talos/api/gen/cosi/resource.ts";
import type { StoredResource } from "../resources/stored-resource.ts";
import { timestampOf } from "./wire-time.ts";

/** A resource as it goes over the wire. */
export function encodeResource(resource: StoredResource): Resource {
  return Resource.fromPartial({
    metadata: {
      namespace: resource.namespace,
      type: resource.type,
      id: resource.id,
      version: String(resource.version),
      owner: resource.owner,
      phase: "running",
      created: timestampOf(resource.created),
      updated: timestampOf(resource.updated),
      labels: { ...resource.labels },
      annotations: { ...resource.annotations },
    },
    spec: { protoSpec: resource.proto, yamlSpec: resource.yaml },
  });
}

export interface Query {
  readonly labelQuery: readonly LabelQuery[];
  readonly idQuery: { readonly regexp: string } | undefined;
}

/** Every query of the list may match (or); all terms of one query must (and). */
export function matches(resource: StoredResource, query: Query | undefined): boolean {
  if (
    query?.idQuery !== undefined &&
    query.idQuery.regexp !== "" &&
    !new RegExp(query.idQuery.regexp).test(resource.id)
  ) {
    return false;
  }
  const queries = query?.labelQuery ?? [];
  return queries.length === 0 || queries.some(({ terms }) => terms.every((term) => termHolds(resource.labels, term)));
}

function termHolds(labels: Readonly<Record<string, string>>, term: LabelQuery["terms"][number]): boolean {
  const value = labels[term.key];
  const holds =
    term.op === LabelTerm_Operation.EXISTS
      ? value !== undefined
      : term.op === LabelTerm_Operation.NOT_EXISTS
        ? value === undefined
        : value !== undefined && term.value.includes(value);
  return term.invert ? !holds : holds;
}
