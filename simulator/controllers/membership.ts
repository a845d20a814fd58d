// SPDX-License-Identifier: Apache-2.0
import { isServing } from "../machine/etcd.ts";
import { faultOf } from "../machine/fault.ts";
import { isHealthy, isUp } from "../machine/life.ts";
import { type NodeConfig, partialHostname, readNodeConfig } from "../machine/node-config.ts";
import { type Cluster, type Machine, type World, withCluster } from "../machine/world.ts";

/** The config that the machine runs with, once it has one. */
export function configOf(machine: Machine): NodeConfig | undefined {
  return machine.activeConfig === undefined ? undefined : readNodeConfig(machine.activeConfig);
}

export function clusterOf(world: World, machine: Machine): Cluster | undefined {
  const config = configOf(machine);
  return config === undefined ? undefined : world.clusters[config.clusterKey];
}

/** The machines that run with a config of this cluster. */
export function machinesOf(world: World, clusterKey: string): readonly Machine[] {
  return Object.values(world.machines).filter((machine) => configOf(machine)?.clusterKey === clusterKey);
}

/** Config first, then the name that the platform gives the machine. */
export function hostnameOf(machine: Machine): string {
  const partial = machine.partialConfig === undefined ? undefined : partialHostname(machine.partialConfig);
  return configOf(machine)?.hostname ?? partial ?? machine.name;
}

export function isControlPlane(machine: Machine): boolean {
  return configOf(machine)?.type === "controlplane";
}

/** True when the kubelet has started this control plane's components. */
export function staticPodsRun(machine: Machine, now: number): boolean {
  return isUp(machine.life) && machine.staticPodsAt !== undefined && machine.staticPodsAt <= now;
}

/** False while a component's pod is replaced or restarts, and where a fault keeps one that runs from becoming ready. */
export function componentWorks(machine: Machine, component: string, now: number): boolean {
  if ((machine.components[component]?.readyAt ?? now) > now) return false;
  return !machine.faults.some(
    (fault) =>
      fault.kind === "component-not-ready" &&
      fault.component === component &&
      (fault.until === undefined || now < fault.until) &&
      (fault.version === undefined || machine.components[component]?.image.endsWith(`:v${fault.version}`)),
  );
}

/** The fault that keeps a service of the machine from starting. */
export function failureOf({ faults }: Machine, service: string, now: number) {
  return faultOf(
    faults.filter((fault) => fault.kind === "service-fails" && fault.service === service),
    "service-fails",
    now,
  );
}

/** True when this control plane's API server process is up. */
export function apiServerRuns(machine: Machine, now: number): boolean {
  return staticPodsRun(machine, now) && componentWorks(machine, "kube-apiserver", now);
}

/** True when Kubernetes answers through this machine. */
export function apiServerReady(world: World, machine: Machine, now: number): boolean {
  return apiServerRuns(machine, now) && isServing(world, clusterOf(world, machine));
}

/** The other components of a machine are ready while Kubernetes answers there, or, without its own API server, elsewhere. */
export function staticPodReady(world: World, machine: Machine, component: string, now: number): boolean {
  const serves = isServing(world, clusterOf(world, machine));
  return staticPodsRun(machine, now) && serves && componentWorks(machine, component, now);
}

/** True when any control plane of the cluster serves Kubernetes. */
export function kubernetesServes(world: World, clusterKey: string, now: number): boolean {
  if (!isServing(world, world.clusters[clusterKey])) return false;
  return machinesOf(world, clusterKey).some((machine) => apiServerRuns(machine, now));
}

/** True when some control plane of the cluster can sign this worker's certificate: same CA, same token. */
export function trustdReachable(world: World, worker: NodeConfig): boolean {
  return machinesOf(world, worker.clusterKey).some((machine) => {
    const config = configOf(machine);
    return (
      config?.type === "controlplane" &&
      config.token === worker.token &&
      [worker.osCa.certificate, ...worker.acceptedOsCas].includes(config.osCa.certificate) &&
      isHealthy(machine.services.trustd)
    );
  });
}

/** The place for what this config's cluster will share, made when its first machine is configured. */
export function ensureCluster(world: World, text: string): World {
  const key = readNodeConfig(text).clusterKey;
  if (world.clusters[key] !== undefined) return world;
  return withCluster(world, { key, objects: {}, revision: 1, kubelets: {} });
}
