// SPDX-License-Identifier: Apache-2.0
import { type Cluster, specOf, type Tree, tree } from "../machine/world.ts";
import { type ApiResource, definitionStorage, isCustom } from "./api-resources.ts";
import { withoutUnknown } from "./known-fields.ts";
import { type Fault, refuse } from "./object-rules.ts";
import { getObject, type NewObject } from "./store.ts";

interface Version {
  readonly name: string;
  readonly schema?: { readonly openAPIV3Schema?: Tree };
}

/** The top fields of a custom resource by their schema; undefined where it keeps unknown fields or says nothing. */
export function customFields(cluster: Cluster, resource: ApiResource): Tree | undefined {
  if (!isCustom(resource)) return undefined;
  const definition = getObject(cluster, definitionStorage, undefined, `${resource.name}.${resource.group}`);
  if (definition === undefined) return undefined;
  const { versions = [] } = specOf<{ versions: readonly Version[] }>(definition);
  const schema = versions.find(({ name }) => name === resource.version)?.schema?.openAPIV3Schema;
  if (schema?.properties === undefined || schema["x-kubernetes-preserve-unknown-fields"] === true) return undefined;
  return tree(schema.properties);
}

const always = ["apiVersion", "kind", "metadata"];

/** The object without what its kind does not have. */
export function pruned(cluster: Cluster, resource: ApiResource, object: NewObject): NewObject {
  const fields = customFields(cluster, resource);
  if (fields === undefined) return withoutUnknown(object);
  const kept = Object.entries(object).filter(([key]) => always.includes(key) || fields[key] !== undefined);
  return Object.fromEntries(kept) as NewObject;
}

const typeOf = (value: unknown): string =>
  Array.isArray(value) ? "array" : Number.isInteger(value) ? "integer" : typeof value;

/** Checks the types of the top fields of a custom resource. */
export function refuseCustom(cluster: Cluster, resource: ApiResource, object: NewObject): void {
  const faults = Object.entries(customFields(cluster, resource) ?? {}).flatMap(([key, schema]): Fault[] => {
    const [wanted, found] = [tree(schema).type, typeOf(object[key])];
    if (
      object[key] === undefined ||
      wanted === undefined ||
      wanted === found ||
      (wanted === "number" && found === "integer")
    )
      return [];
    const message = `Invalid value: "${found}": ${key} in body must be of type ${wanted}: "${found}"`;
    return [{ field: key, message, reason: "FieldValueTypeInvalid" }];
  });
  refuse(resource, object.metadata.name, faults);
}
