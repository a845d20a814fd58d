// SPDX-License-Identifier: Apache-2.0
import { findKind, storageName } from "../kubernetes/api-resources.ts";
import { bootstrapManifests, systemNamespaces } from "../kubernetes/bootstrap-manifests.ts";
import { withDefaults } from "../kubernetes/defaults.ts";
import { createObject, getObject, type NewObject, updateObject } from "../kubernetes/store.ts";
import type { Moment } from "../machine/moment.ts";
import type { NodeConfig } from "../machine/node-config.ts";
import type { Cluster } from "../machine/world.ts";

const inventoryName = "talos-bootstrap-manifests-inventory";
const owner = "config.k8s.io/owning-inventory";

/**
 * Makes what Talos applies after bootstrap. An object that was there once is Talos's no more: whoever changes or deletes
 * it has the last word, and a changed manifest reaches it only by a sync, as `talosctl upgrade-k8s` does one.
 */
export function applyManifests(cluster: Cluster, config: NodeConfig, moment: Moment): Cluster {
  let next = systemNamespaces.reduce((before, namespace) => ensure(before, namespace, moment), cluster);
  const listed = inventoryOf(next);
  const added: string[] = [];
  for (const object of bootstrapManifests(config).flatMap(({ objects }) => objects)) {
    const key = inventoryKey(object);
    if (listed.has(key)) continue;
    added.push(key);
    next = ensure(
      next,
      { ...object, metadata: { ...object.metadata, annotations: { [owner]: inventoryName } } },
      moment,
    );
  }
  return added.length === 0 ? next : writeInventory(next, [...listed, ...added], moment);
}

function ensure(cluster: Cluster, object: NewObject, moment: Moment): Cluster {
  const resource = findKind(cluster, object.apiVersion, object.kind);
  if (resource === undefined) return cluster;
  const storage = storageName(resource);
  const known = getObject(cluster, storage, object.metadata.namespace, object.metadata.name);
  return known === undefined ? createObject(cluster, storage, withDefaults(object), moment) : cluster;
}

/** As the inventory of Kubernetes' own tools names an object. */
function inventoryKey({ apiVersion, kind, metadata }: NewObject): string {
  const group = apiVersion.includes("/") ? apiVersion.split("/")[0] : "";
  return `${metadata.namespace ?? ""}_${metadata.name.replaceAll(":", "__")}_${group}_${kind}`;
}

function inventoryOf(cluster: Cluster): ReadonlySet<string> {
  const { data } = (getObject(cluster, "configmaps", "kube-system", inventoryName) ?? {}) as { data?: object };
  return new Set(Object.keys(data ?? {}));
}

function writeInventory(cluster: Cluster, keys: readonly string[], moment: Moment): Cluster {
  const data = Object.fromEntries(keys.map((key) => [key, ""]));
  const known = getObject(cluster, "configmaps", "kube-system", inventoryName);
  if (known !== undefined) return updateObject(cluster, "configmaps", { ...known, data });
  const metadata = { name: inventoryName, namespace: "kube-system" };
  return createObject(cluster, "configmaps", { apiVersion: "v1", kind: "ConfigMap", metadata, data }, moment);
}
