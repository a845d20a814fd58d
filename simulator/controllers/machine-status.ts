// SPDX-License-Identifier: Apache-2.0

import { isNodeReady } from "../kubernetes/node.ts";
import { getObject } from "../kubernetes/store.ts";
import type { UnmetCondition } from "../machine/event.ts";
import { stageName } from "../machine/life.ts";
import { isHealthy } from "../machine/service-state.ts";
import type { Machine, World } from "../machine/world.ts";
import { clusterOf, hostnameOf, isControlPlane, staticPodReady } from "./membership.ts";

export interface MachineStatus {
  readonly stage: string;
  readonly ready: boolean;
  readonly unmet: readonly UnmetCondition[];
}

/** What a machine says of itself (MachineStatuses.runtime.talos.dev). */
export function machineStatus(world: World, machine: Machine, now: number): MachineStatus {
  const stage = stageName(machine.life);
  const unmet = stage === "booting" || stage === "running" ? unmetConditions(world, machine, now) : [];
  return { stage, ready: unmet.length === 0 && ["running", "maintenance"].includes(stage), unmet };
}

function unmetConditions(world: World, machine: Machine, now: number): UnmetCondition[] {
  const conditions: UnmetCondition[] = [];
  const controlPlane = isControlPlane(machine);
  const needed = controlPlane ? ["apid", "etcd", "kubelet", "machined", "trustd"] : ["apid", "kubelet", "machined"];
  const problems = needed.flatMap((id) => {
    const service = machine.services[id];
    if (isHealthy(service)) return [];
    return [service?.stage === "Running" ? `${id} not healthy` : `${id} not running`];
  });
  if (problems.length > 0) conditions.push({ name: "services", reason: problems.join(", ") });
  const node = hostnameOf(machine);
  const unready = controlPlane ? staticPodNames.filter((name) => !staticPodReady(world, machine, name, now)) : [];
  if (unready.length > 0) {
    const pods = unready.map((name) => `kube-system/${name}-${node} not ready`);
    conditions.push({ name: "staticPods", reason: pods.join(", ") });
  }
  const object = getObject(clusterOf(world, machine), "nodes", undefined, node);
  if (object === undefined) {
    conditions.push({ name: "nodeReady", reason: `node "${node}" status is not available yet` });
  } else if (!isNodeReady(object)) {
    conditions.push({ name: "nodeReady", reason: `node "${node}" is not ready` });
  }
  return conditions;
}

export const staticPodNames = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const;
