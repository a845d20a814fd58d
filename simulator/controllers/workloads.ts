// SPDX-License-Identifier: Apache-2.0

import { definitionStorage, establishedStatus, findKind, storageName } from "../kubernetes/api-resources.ts";
import { bootstrapManifests, systemNamespaces } from "../kubernetes/bootstrap-manifests.ts";
import { withDefaults } from "../kubernetes/defaults.ts";
import { countBudget, isHealthy } from "../kubernetes/eviction.ts";
import { readyStatusOf } from "../kubernetes/node.ts";
import { noteTrust, publishRootCas } from "../kubernetes/root-ca.ts";
import { mirrorPod } from "../kubernetes/static-pod.ts";
import {
  createObject,
  deleteObject,
  getObject,
  listObjects,
  type NewObject,
  timestamp,
  updateObject,
} from "../kubernetes/store.ts";
import { type NodeConfig, staticPodNames } from "../machine/node-config.ts";
import type { Controller, Moment } from "../machine/timings.ts";
import {
  type Cluster,
  type KubernetesObject,
  type Machine,
  mapClusters,
  statusOf,
  type World,
} from "../machine/world.ts";
import { tendDeployment } from "./deployments.ts";
import { collectGarbage, evictLost } from "./expiry.ts";
import { componentWorks, configOf, hostnameOf, kubernetesServes, machinesOf, staticPodsRun } from "./membership.ts";
import { bindClaims, schedulePods, startPods } from "./pod-scheduling.ts";
import { tendDaemonSet, tendJob, tendReplicaSet, tendStatefulSet } from "./pod-sets.ts";

type Tend = (cluster: Cluster, object: KubernetesObject, moment: Moment) => Cluster;

const tended: readonly (readonly [resource: string, tend: Tend])[] = [
  [definitionStorage, tendDefinition],
  ["namespaces", tendNamespace],
  ["daemonsets.apps", tendDaemonSet],
  ["deployments.apps", tendDeployment],
  ["replicasets.apps", tendReplicaSet],
  ["statefulsets.apps", tendStatefulSet],
  ["jobs.batch", tendJob],
  ["poddisruptionbudgets.policy", countBudget],
];

/** Kubernetes' own controllers, as far as workloads need them, and what Talos puts into a cluster. */
export const workloads: Controller = (world, moment) =>
  mapClusters(world, (cluster, next) => {
    if (!kubernetesServes(next, cluster.key, moment.now)) return cluster;
    const machines = machinesOf(next, cluster.key);
    const config = machines.map(configOf).find((candidate) => candidate?.type === "controlplane");
    return config === undefined ? cluster : tend(next, cluster, machines, config, moment);
  });

function tend(
  world: World,
  cluster: Cluster,
  machines: readonly Machine[],
  config: NodeConfig,
  moment: Moment,
): Cluster {
  const applied = publishRootCas(applyManifests(cluster, config, moment), config, moment);
  let next = evictLost(collectGarbage(applied, moment), moment);
  for (const machine of machines) next = mirrorPods(next, machine, moment);
  for (const [resource, step] of tended) {
    for (const object of listObjects(next, resource)) next = step(next, object, moment);
  }
  return noteTrust(startPods(world, schedulePods(bindClaims(next, moment), moment), moment));
}

/** Every namespace has an account for its pods. */
function tendNamespace(cluster: Cluster, home: KubernetesObject, moment: Moment): Cluster {
  const { name: namespace, deletionTimestamp } = home.metadata;
  if (deletionTimestamp !== undefined) return cluster;
  if (getObject(cluster, "serviceaccounts", namespace, "default") !== undefined) return cluster;
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace } };
  return createObject(cluster, "serviceaccounts", account, moment);
}

function tendDefinition(cluster: Cluster, definition: KubernetesObject, moment: Moment): Cluster {
  const since = statusOf<{ conditions?: readonly { lastTransitionTime: string }[] }>(definition).conditions?.[0]
    ?.lastTransitionTime;
  const status = establishedStatus(definition, since ?? timestamp(moment.now));
  return updateObject(cluster, definitionStorage, { ...definition, status });
}

function mirrorPods(cluster: Cluster, machine: Machine, moment: Moment): Cluster {
  const node = getObject(cluster, "nodes", undefined, hostnameOf(machine));
  if (node === undefined || !staticPodsRun(machine, moment.now)) return cluster;
  return staticPodNames.reduce((next, name) => {
    const component = machine.components[name];
    if (component === undefined) return next;
    const ready = componentWorks(machine, name, moment.now);
    const wanted = mirrorPod(name, node, machine, component, ready, moment.now);
    const known = getObject(next, "pods", "kube-system", wanted.metadata.name);
    const same = known?.metadata.annotations?.["talos.dev/config-version"] === String(component.version);
    // Whether it is ready is what its kubelet reports, and a silent one reports nothing.
    if (known !== undefined && same && (isHealthy(known) === ready || readyStatusOf(node) === "Unknown")) return next;
    if (known !== undefined && same) return updateObject(next, "pods", { ...known, status: wanted.status });
    const cleared = known === undefined ? next : deleteObject(next, "pods", "kube-system", wanted.metadata.name);
    return createObject(cleared, "pods", wanted, moment);
  }, cluster);
}

const inventoryName = "talos-bootstrap-manifests-inventory";
const owner = "config.k8s.io/owning-inventory";

/**
 * Makes what Talos applies after bootstrap. An object that was there once is Talos's no more: whoever changes or deletes
 * it has the last word, and a changed manifest reaches it only by a sync, as `talosctl upgrade-k8s` does one.
 */
function applyManifests(cluster: Cluster, config: NodeConfig, moment: Moment): Cluster {
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
