// SPDX-License-Identifier: Apache-2.0

import { bootstrapObjects } from "../kubernetes/bootstrap-manifests.ts";
import { isHealthy } from "../kubernetes/eviction.ts";
import { isNodeReady, isUnschedulable } from "../kubernetes/node.ts";
import { daemonPod, mirrorPod, replicaPod, runningStatus } from "../kubernetes/pod.ts";
import { createObject, deleteObject, getObject, listObjects, updateObject } from "../kubernetes/store.ts";
import type { Controller, Moment } from "../machine/moment.ts";
import type { NodeConfig } from "../machine/node-config.ts";
import {
  type Cluster,
  type KubernetesObject,
  type Machine,
  type World,
  withCluster,
  without,
} from "../machine/world.ts";
import { staticPodNames } from "./machine-status.ts";
import { apiServerRuns, configOf, hostnameOf, kubernetesServes, machinesOf } from "./membership.ts";

/** Kubernetes' own controllers, as far as pods need them: manifests, mirror pods, daemon sets, replica sets, scheduling. */
export const workloads: Controller = (world, moment) =>
  Object.values(world.clusters).reduce((next, cluster) => {
    if (!kubernetesServes(next, cluster.key, moment.now)) return next;
    const machines = machinesOf(next, cluster.key);
    const config = machines.map(configOf).find((candidate) => candidate?.type === "controlplane");
    return config === undefined ? next : withCluster(next, tend(next, cluster, machines, config, moment));
  }, world);

function tend(
  world: World,
  cluster: Cluster,
  machines: readonly Machine[],
  config: NodeConfig,
  moment: Moment,
): Cluster {
  let next = applyManifests(cluster, config, moment);
  next = dropOrphans(next);
  for (const machine of machines) next = mirrorPods(next, machine, moment);
  for (const set of listObjects(next, "daemonsets.apps")) next = tendDaemonSet(next, set, moment);
  for (const deployment of listObjects(next, "deployments.apps")) next = tendDeployment(next, deployment, moment);
  for (const set of listObjects(next, "replicasets.apps")) next = tendReplicas(next, set, moment);
  for (const set of listObjects(next, "statefulsets.apps")) next = tendReplicas(next, set, moment);
  return startPods(world, next, moment);
}

/** What Talos applies after bootstrap. Once it was there, deleting it is final until the manifests change. */
function applyManifests(cluster: Cluster, config: NodeConfig, moment: Moment): Cluster {
  return bootstrapObjects(config).reduce((next, { resource, object }) => {
    const known = getObject(next, resource, object.metadata.namespace, object.metadata.name);
    if (known === undefined) return createObject(next, resource, object, moment);
    // A newer kube-proxy image in the config reaches the daemon set.
    const wanted = object.spec === undefined ? known : { ...known, spec: object.spec };
    return resource === "daemonsets.apps" ? updateObject(next, resource, wanted) : next;
  }, cluster);
}

/** Pods of nodes that are no longer there. */
function dropOrphans(cluster: Cluster): Cluster {
  return listObjects(cluster, "pods").reduce((next, pod) => {
    const node = nodeNameOf(pod);
    if (node === undefined || getObject(next, "nodes", undefined, node) !== undefined) return next;
    return deleteObject(next, "pods", pod.metadata.namespace, pod.metadata.name);
  }, cluster);
}

function mirrorPods(cluster: Cluster, machine: Machine, moment: Moment): Cluster {
  const node = hostnameOf(machine);
  if (!apiServerRuns(machine, moment.now) || getObject(cluster, "nodes", undefined, node) === undefined) return cluster;
  return staticPodNames.reduce((next, name) => {
    const component = machine.components[name];
    if (component === undefined) return next;
    const wanted = mirrorPod(name, node, machine, component, moment.now);
    const known = getObject(next, "pods", "kube-system", wanted.metadata.name);
    const same = known?.metadata.annotations?.["talos.dev/config-version"] === String(component.version);
    if (known !== undefined && same) return next;
    const cleared = known === undefined ? next : deleteObject(next, "pods", "kube-system", wanted.metadata.name);
    return createObject(cleared, "pods", wanted, moment);
  }, cluster);
}

function tendDaemonSet(cluster: Cluster, set: KubernetesObject, moment: Moment): Cluster {
  const nodes = listObjects(cluster, "nodes");
  const filled = nodes.reduce((next, node) => {
    const pod = daemonPod(set, node.metadata.name);
    const known = getObject(next, "pods", pod.metadata.namespace, pod.metadata.name);
    if (known === undefined) return begin(createObject(next, "pods", pod, moment), pod.metadata, moment);
    if (imageOf(known) === imageOf(set) || known.metadata.deletionTimestamp !== undefined) return next;
    return deleteObject(next, "pods", pod.metadata.namespace, pod.metadata.name);
  }, cluster);
  const ready = podsOf(filled, set).filter(isHealthy).length;
  const status = {
    currentNumberScheduled: nodes.length,
    desiredNumberScheduled: nodes.length,
    numberAvailable: ready,
    numberReady: ready,
    numberMisscheduled: 0,
    updatedNumberScheduled: nodes.length,
    observedGeneration: 1,
  };
  return updateObject(filled, "daemonsets.apps", { ...set, status });
}

function tendDeployment(cluster: Cluster, deployment: KubernetesObject, moment: Moment): Cluster {
  const { namespace, name, uid, labels = {} } = deployment.metadata;
  const spec = deployment.spec as { replicas?: number; template?: unknown; selector?: unknown } | undefined;
  const set = `${name}-${uid.slice(0, 8)}`;
  const known = getObject(cluster, "replicasets.apps", namespace, set);
  const replicas = spec?.replicas ?? 1;
  const owner = { apiVersion: "apps/v1", kind: "Deployment", name, uid, controller: true, blockOwnerDeletion: true };
  const wanted = {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { name: set, ...(namespace === undefined ? {} : { namespace }), labels, ownerReferences: [owner] },
    spec: { replicas, selector: spec?.selector, template: spec?.template },
  };
  const next =
    known === undefined
      ? createObject(cluster, "replicasets.apps", wanted, moment)
      : updateObject(cluster, "replicasets.apps", { ...known, spec: wanted.spec });
  const current = getObject(next, "replicasets.apps", namespace, set);
  const ready = current === undefined ? 0 : podsOf(next, current).filter(isHealthy).length;
  const status = {
    replicas,
    updatedReplicas: replicas,
    readyReplicas: ready,
    availableReplicas: ready,
    observedGeneration: 1,
  };
  return updateObject(next, "deployments.apps", { ...deployment, status });
}

/** Keeps as many pods as wanted, each on a node that takes pods. */
function tendReplicas(cluster: Cluster, set: KubernetesObject, moment: Moment): Cluster {
  const owner = (set.metadata.ownerReferences as readonly { kind: string; name: string }[] | undefined)?.[0];
  if (
    owner?.kind === "Deployment" &&
    getObject(cluster, "deployments.apps", set.metadata.namespace, owner.name) === undefined
  ) {
    return deleteObject(cluster, "replicasets.apps", set.metadata.namespace, set.metadata.name);
  }
  const wanted = (set.spec as { replicas?: number } | undefined)?.replicas ?? 1;
  const alive = podsOf(cluster, set).filter((pod) => pod.metadata.deletionTimestamp === undefined);
  if (alive.length > wanted) {
    const [extra] = alive.slice(wanted);
    return extra === undefined ? cluster : deleteObject(cluster, "pods", extra.metadata.namespace, extra.metadata.name);
  }
  let next = cluster;
  for (let count = alive.length; count < wanted; count += 1) {
    const node = chooseNode(next, set);
    if (node === undefined) return next;
    const pod = replicaPod(set, node, moment);
    next = begin(createObject(next, "pods", pod, moment), pod.metadata, moment);
  }
  return next;
}

/** The ready node that has the fewest pods of the set; control planes only when there is nothing else. */
function chooseNode(cluster: Cluster, set: KubernetesObject): string | undefined {
  const pods = podsOf(cluster, set);
  const open = listObjects(cluster, "nodes").filter((node) => isNodeReady(node) && !isUnschedulable(node));
  const workers = open.filter((node) => node.metadata.labels?.["node-role.kubernetes.io/control-plane"] === undefined);
  const load = (node: KubernetesObject): number => pods.filter((pod) => nodeNameOf(pod) === node.metadata.name).length;
  const [best] = (workers.length > 0 ? workers : open).sort((a, b) => load(a) - load(b));
  return best?.metadata.name;
}

function begin(cluster: Cluster, pod: { readonly name: string; readonly namespace?: string }, moment: Moment): Cluster {
  const key = `${pod.namespace ?? ""}/${pod.name}`;
  return { ...cluster, starting: { ...cluster.starting, [key]: moment.now + moment.timings.podStart } };
}

/** Pods become ready on ready nodes, and are no longer ready on lost ones. */
function startPods(world: World, cluster: Cluster, moment: Moment): Cluster {
  let next = cluster;
  for (const [key, time] of Object.entries(cluster.starting ?? {})) {
    const [namespace, name = ""] = key.split("/");
    const pod = getObject(next, "pods", namespace, name);
    const node = pod === undefined ? undefined : getObject(next, "nodes", undefined, nodeNameOf(pod) ?? "");
    if (pod !== undefined && (time > moment.now || node === undefined || !isNodeReady(node))) continue;
    next = { ...next, starting: without(next.starting ?? {}, key) };
    if (pod !== undefined)
      next = updateObject(next, "pods", { ...pod, status: statusOf(world, next, pod, true, moment) });
  }
  for (const pod of listObjects(next, "pods").filter(isHealthy)) {
    const node = getObject(next, "nodes", undefined, nodeNameOf(pod) ?? "");
    if (node === undefined || isNodeReady(node)) continue;
    next = updateObject(next, "pods", { ...pod, status: statusOf(world, next, pod, false, moment) });
    next = begin(next, pod.metadata, moment);
  }
  return next;
}

function statusOf(world: World, cluster: Cluster, pod: KubernetesObject, ready: boolean, moment: Moment): unknown {
  const node = nodeNameOf(pod) ?? "";
  const host = world.machines[cluster.kubelets[node]?.machine ?? ""]?.address ?? "";
  return runningStatus(pod, host, ready, moment.now);
}

function podsOf(cluster: Cluster, owner: KubernetesObject): KubernetesObject[] {
  return listObjects(cluster, "pods", owner.metadata.namespace).filter((pod) =>
    (pod.metadata.ownerReferences as readonly { uid: string }[] | undefined)?.some(
      ({ uid }) => uid === owner.metadata.uid,
    ),
  );
}

function nodeNameOf(pod: KubernetesObject): string | undefined {
  return (pod.spec as { nodeName?: string } | undefined)?.nodeName;
}

/** Of the first container, in a pod or in a template. */
function imageOf(object: KubernetesObject): string | undefined {
  const spec = object.spec as
    | {
        containers?: readonly { image?: string }[];
        template?: { spec?: { containers?: readonly { image?: string }[] } };
      }
    | undefined;
  return (spec?.containers ?? spec?.template?.spec?.containers)?.[0]?.image;
}
