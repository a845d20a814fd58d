// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import { randomUuid } from "../machine/chance.ts";
import type { Moment } from "../machine/timings.ts";
import type { Cluster, KubernetesObject, ObjectMetadata } from "../machine/world.ts";

/** An object on its way into the store: the server fills in the rest of the metadata. */
export interface NewObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Partial<ObjectMetadata> & { readonly name: string };
  readonly [field: string]: unknown;
}

function objectKey(resource: string, namespace: string | undefined, name: string): string {
  return `${resource}/${namespace ?? ""}/${name}`;
}

export function getObject(
  cluster: Cluster | undefined,
  resource: string,
  namespace: string | undefined,
  name: string,
): KubernetesObject | undefined {
  return cluster?.objects[objectKey(resource, namespace, name)];
}

/** All objects of a resource, of one namespace or of all, in the order of their names. */
export function listObjects(cluster: Cluster | undefined, resource: string, namespace?: string): KubernetesObject[] {
  const prefix = namespace === undefined ? `${resource}/` : `${resource}/${namespace}/`;
  return Object.entries(cluster?.objects ?? {})
    .filter(([key]) => key.startsWith(prefix))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, object]) => object);
}

export function createObject(cluster: Cluster, resource: string, object: NewObject, moment: Moment): Cluster {
  const revision = cluster.revision + 1;
  const metadata: ObjectMetadata = given({
    ...object.metadata,
    uid: randomUuid(moment.entropy),
    resourceVersion: String(revision),
    creationTimestamp: timestamp(moment.now),
    generation: counted(resource, object) ? 1 : undefined,
  });
  return put(cluster, resource, { ...object, metadata }, revision);
}

/** Writes a changed object; the same content leaves the cluster as it is. */
export function updateObject(cluster: Cluster, resource: string, object: KubernetesObject): Cluster {
  const known = getObject(cluster, resource, object.metadata.namespace, object.metadata.name);
  if (known !== undefined && JSON.stringify(known) === JSON.stringify(object)) return cluster;
  const revision = cluster.revision + 1;
  const old = known?.metadata.generation;
  const same = content(known) === content(object);
  const generation = typeof old === "number" ? { generation: same ? old : old + 1 } : {};
  const metadata = { ...object.metadata, ...generation, resourceVersion: String(revision) };
  return put(cluster, resource, { ...object, metadata }, revision);
}

export function deleteObject(cluster: Cluster, resource: string, namespace: string | undefined, name: string): Cluster {
  const { [objectKey(resource, namespace, name)]: gone, ...objects } = cluster.objects;
  return gone === undefined ? cluster : { ...cluster, objects, revision: cluster.revision + 1 };
}

/** What a change of is a new generation: the spec, or all of a custom resource but its status. */
function content(object: KubernetesObject | undefined): string {
  if (object === undefined) return "";
  const { metadata: _metadata, status: _status, ...rest } = object;
  return JSON.stringify("spec" in rest ? rest.spec : rest);
}

/** Whether the kinds of a group come from custom resource definitions. */
export const isCustomGroup = (group: string): boolean => group.includes(".") && !group.endsWith(".k8s.io");

/** Kinds whose changes of `spec` are numbered, so that a status can say which one it is about. */
function counted(resource: string, object: NewObject): boolean {
  return (
    (object.spec !== undefined && (resource === "pods" || resource.includes(".")) && !resource.startsWith("leases.")) ||
    isCustomGroup(resource.slice(resource.indexOf(".") + 1))
  );
}

/** Kubernetes writes whole seconds. */
export function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

function put(cluster: Cluster, resource: string, object: KubernetesObject, revision: number): Cluster {
  const key = objectKey(resource, object.metadata.namespace, object.metadata.name);
  return { ...cluster, objects: { ...cluster.objects, [key]: object }, revision };
}
