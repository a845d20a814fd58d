// SPDX-License-Identifier: Apache-2.0

import { isNodeReady } from "../kubernetes/node.ts";
import { getObject } from "../kubernetes/store.ts";
import { emit } from "../machine/events.ts";
import { isHealthy, stageName } from "../machine/life.ts";
import { staticPodNames } from "../machine/node-config.ts";
import type { Controller } from "../machine/timings.ts";
import { type Machine, mapMachines, type UnmetCondition, type World } from "../machine/world.ts";
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

/** Tells the event stream whenever the machine's status is another one than it last told. */
export const statusEvents: Controller = (world, moment) =>
  mapMachines(world, (machine) => {
    if (machine.life.stage === "off" || machine.life.stage === "starting") return machine;
    const status = machineStatus(world, machine, moment.now);
    const last = machine.events.findLast((event) => event.body.kind === "status")?.body;
    return last?.kind === "status" && isSame(last, status)
      ? machine
      : emit(machine, moment.now, { kind: "status", ...status });
  });

function isSame(a: MachineStatus, b: MachineStatus): boolean {
  return (
    a.stage === b.stage &&
    a.ready === b.ready &&
    a.unmet.length === b.unmet.length &&
    a.unmet.every(({ name, reason }, index) => name === b.unmet[index]?.name && reason === b.unmet[index]?.reason)
  );
}
