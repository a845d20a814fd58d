// SPDX-License-Identifier: Apache-2.0
import { type Cluster, isTree, specOf, type Tree, tree } from "../machine/world.ts";
import { type ApiResource, definitionStorage, isCustom } from "./api-resources.ts";
import { withoutUnknown } from "./known-fields.ts";
import { type Fault, refuse } from "./object-rules.ts";
import { getObject, type NewObject } from "./store.ts";

interface Version {
  readonly name: string;
  readonly schema?: { readonly openAPIV3Schema?: Tree };
  readonly subresources?: { readonly scale?: ScalePaths };
}

/** Where a custom resource has what the scale subresource shows. */
interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

function versionOf(cluster: Cluster, resource: ApiResource): Version | undefined {
  if (!isCustom(resource)) return undefined;
  const definition = getObject(cluster, definitionStorage, undefined, `${resource.name}.${resource.group}`);
  if (definition === undefined) return undefined;
  const { versions = [] } = specOf<{ versions: readonly Version[] }>(definition);
  return versions.find(({ name }) => name === resource.version);
}

/** Undefined where the definition has no scale subresource. */
export const scalePathsOf = (cluster: Cluster, resource: ApiResource): ScalePaths | undefined =>
  versionOf(cluster, resource)?.subresources?.scale;

/** The object with the defaults of its schema, as far down as it has objects. */
export function withCustomDefaults<T extends NewObject>(cluster: Cluster, resource: ApiResource, object: T): T {
  const schema = versionOf(cluster, resource)?.schema?.openAPIV3Schema;
  return schema === undefined ? object : (defaulted(object, schema) as T);
}

function defaulted(value: unknown, schema: Tree): unknown {
  if (Array.isArray(value)) return value.map((item) => defaulted(item, tree(schema.items)));
  if (!isTree(value)) return value;
  const fields = tree(schema.properties);
  const filled = Object.entries(fields).flatMap(([name, field]) => {
    const given = value[name] ?? tree(field).default;
    return given === undefined ? [] : [[name, defaulted(given, tree(field))] as const];
  });
  const others = isTree(schema.additionalProperties)
    ? Object.entries(value).map(([name, item]) => [name, defaulted(item, tree(schema.additionalProperties))] as const)
    : Object.entries(value);
  return { ...Object.fromEntries(others), ...Object.fromEntries(filled) };
}

/** The top fields of a custom resource by their schema; undefined where it keeps unknown fields or says nothing. */
export function customFields(cluster: Cluster, resource: ApiResource): Tree | undefined {
  const schema = versionOf(cluster, resource)?.schema?.openAPIV3Schema;
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
