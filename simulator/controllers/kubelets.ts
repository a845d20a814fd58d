// SPDX-License-Identifier: Apache-2.0

import { recordEvent } from "../kubernetes/events.ts";
import {
  heartbeatOf,
  isNodeReady,
  newNode,
  nodeLease,
  nodeLeaseNamespace,
  nodeStatus,
  readyStatusOf,
} from "../kubernetes/node.ts";
import { templateOf } from "../kubernetes/pod.ts";
import { createObject, getObject, listObjects, timestamp, updateObject } from "../kubernetes/store.ts";
import { isHealthy, isUp } from "../machine/life.ts";
import type { Controller, Moment } from "../machine/timings.ts";
import {
  type Cluster,
  type KubeletRecord,
  type KubernetesObject,
  type Machine,
  type World,
  withCluster,
  without,
} from "../machine/world.ts";
import { configOf, hostnameOf, kubernetesServes, machinesOf } from "./membership.ts";

const leases = "leases.coordination.k8s.io";

/** Kubelets register their nodes, report them ready, and are missed when they fall silent. */
export const kubelets: Controller = (world, moment) => {
  const keys = Object.keys(world.clusters).filter((key) => kubernetesServes(world, key, moment.now));
  if (keys.length === 0) return world;
  const serving = new Map(keys.map((key) => [key, hasNetwork(world, key)]));
  const reported = Object.values(world.machines).reduce(
    (next, machine) => report(next, machine, serving, moment),
    world,
  );
  return keys.reduce((next, key) => watchSilence(next, key, moment), reported);
};

/**
 * Whether pods get a network: from the plugin that the control planes' config asks for, or from any other that was put
 * there. A plugin that the config no longer asks for goes on working until someone deletes it.
 */
function hasNetwork(world: World, clusterKey: string): boolean {
  const configs = machinesOf(world, clusterKey).map(configOf);
  if (configs.some((config) => config?.type === "controlplane" && config.cniName !== "none")) return true;
  const cluster = world.clusters[clusterKey];
  return cluster !== undefined && listObjects(cluster, "daemonsets.apps").some(installsNetwork);
}

const networkFolders = ["/etc/cni/net.d", "/opt/cni/bin"];

/** Network plugins are daemon sets that write into the folders where the container runtime looks for one. */
function installsNetwork(set: KubernetesObject): boolean {
  const volumes = (templateOf(set).spec?.volumes ?? []) as readonly { hostPath?: { path?: string } }[];
  return volumes.some(({ hostPath }) => networkFolders.includes(hostPath?.path ?? ""));
}

function kubeletRuns(machine: Machine | undefined): machine is Machine {
  return machine !== undefined && isUp(machine.life) && isHealthy(machine.services.kubelet);
}

function report(world: World, machine: Machine, serving: ReadonlyMap<string, boolean>, moment: Moment): World {
  const config = configOf(machine);
  if (config === undefined || !serving.has(config.clusterKey) || !kubeletRuns(machine)) return world;
  const cluster = world.clusters[config.clusterKey];
  if (cluster === undefined) return world;
  const name = hostnameOf(machine);
  const node = getObject(cluster, "nodes", undefined, name);
  if (node === undefined) {
    const index = listObjects(cluster, "nodes").length;
    const created = createObject(cluster, "nodes", newNode(name, machine, config, index, moment.now), moment);
    const kubelet = { machine: machine.id, registeredAt: moment.now };
    const registered = { ...created, kubelets: { ...created.kubelets, [name]: kubelet } };
    const about = getObject(registered, "nodes", undefined, name);
    if (about === undefined) return withCluster(world, registered);
    const message = `Node ${name} event: Registered Node ${name} in Controller`;
    const told = { about, type: "Normal", reason: "RegisteredNode", message, source: "node-controller" } as const;
    return withCluster(world, recordEvent(registered, told, moment));
  }
  const record = cluster.kubelets[name];
  const heard: Cluster =
    record?.machine === machine.id && record.silentSince === undefined
      ? cluster
      : { ...cluster, kubelets: { ...cluster.kubelets, [name]: { machine: machine.id, registeredAt: moment.now } } };
  const since = heard.kubelets[name]?.registeredAt ?? moment.now;
  const networked = serving.get(config.clusterKey) === true && since + moment.timings.nodeReady <= moment.now;
  const ready = networked ? "True" : "False";
  const fresh = { ...node, status: nodeStatus(name, machine, config, ready, moment.now) };
  const leased =
    getObject(heard, leases, nodeLeaseNamespace, name) === undefined
      ? createObject(heard, leases, nodeLease(node, moment.now), moment)
      : heard;
  if (sameReport(node, fresh) && hasReported(node, machine)) return withCluster(world, leased);
  const updated = updateObject(leased, "nodes", fresh);
  return withCluster(world, readyStatusOf(node) === ready ? updated : tellReadiness(updated, fresh, ready, moment));
}

function tellReadiness(cluster: Cluster, about: KubernetesObject, ready: string, moment: Moment): Cluster {
  const reason = ready === "True" ? "NodeReady" : "NodeNotReady";
  const message = `Node ${about.metadata.name} status is now: ${reason}`;
  return recordEvent(cluster, { about, type: "Normal", reason, message, source: "kubelet" }, moment);
}

/** True when only the time of the heartbeat differs: such a report is not worth a write. */
function sameReport(a: KubernetesObject, b: KubernetesObject): boolean {
  const text = (node: KubernetesObject): string =>
    JSON.stringify(node.status, (key, value: unknown) => (/^last.*Time$/.test(key) ? undefined : value));
  return readyStatusOf(a) === readyStatusOf(b) && text(a) === text(b);
}

/** A kubelet that was started again reports at once, whether anything is new or not. */
function hasReported(node: KubernetesObject, { services }: Machine): boolean {
  const started = services.kubelet?.healthyAt;
  return started === undefined || heartbeatOf(node) >= timestamp(started);
}

function watchSilence(world: World, key: string, moment: Moment): World {
  const cluster = world.clusters[key];
  if (cluster === undefined) return world;
  let next = cluster;
  // Nodes of a snapshot whose kubelets have not reported: they are missed from when the controllers begin to look.
  const unheard = { machine: "", registeredAt: moment.now, silentSince: moment.now };
  const known = listObjects(cluster, "nodes").filter(({ metadata }) => cluster.kubelets[metadata.name] === undefined);
  const missed = Object.fromEntries(known.map(({ metadata }) => [metadata.name, unheard]));
  if (known.length > 0) next = { ...cluster, kubelets: { ...cluster.kubelets, ...missed } };
  for (const [name, record] of Object.entries(next.kubelets)) next = watchOne(world, next, name, record, moment);
  return withCluster(world, next);
}

function watchOne(world: World, cluster: Cluster, name: string, record: KubeletRecord, moment: Moment): Cluster {
  const node = getObject(cluster, "nodes", undefined, name);
  if (node === undefined) return { ...cluster, kubelets: without(cluster.kubelets, name) };
  const machine = world.machines[record.machine];
  if (kubeletRuns(machine) && configOf(machine)?.clusterKey === cluster.key) return cluster;
  if (record.silentSince === undefined) {
    return { ...cluster, kubelets: { ...cluster.kubelets, [name]: { ...record, silentSince: moment.now } } };
  }
  if (record.silentSince + moment.timings.nodeLost > moment.now || !isNodeReady(node)) return cluster;
  return tellReadiness(updateObject(cluster, "nodes", lost(node, moment)), node, "Unknown", moment);
}

function lost(node: KubernetesObject, moment: Moment): KubernetesObject {
  const status = (node.status ?? {}) as { conditions?: readonly Record<string, unknown>[] };
  const conditions = (status.conditions ?? []).map((condition) => ({
    ...condition,
    status: "Unknown",
    reason: "NodeStatusUnknown",
    message: "Kubelet stopped posting node status.",
    lastTransitionTime: timestamp(moment.now),
  }));
  return { ...node, status: { ...status, conditions } };
}
