// SPDX-License-Identifier: Apache-2.0
import { emitAll } from "../machine/events.ts";
import type { Controller } from "../machine/moment.ts";
import { isHealthy } from "../machine/service-state.ts";
import { type Machine, mapMachines } from "../machine/world.ts";
import { configOf } from "./membership.ts";

/** Ends the boot sequence once all services are up: a control plane therefore boots until it has an etcd. */
export const bootCompletion: Controller = (world, { now }) =>
  mapMachines(world, (machine) => {
    if (machine.life.stage !== "booting" || !servicesUp(machine)) return machine;
    return emitAll({ ...machine, life: { stage: "running", since: now } }, now, [
      { kind: "task", task: "startAllServices", action: "STOP" },
      { kind: "phase", phase: "startEverything", action: "STOP" },
      { kind: "sequence", sequence: "boot", action: "STOP" },
    ]);
  });

function servicesUp(machine: Machine): boolean {
  const needed =
    configOf(machine)?.type === "controlplane" ? ["apid", "trustd", "kubelet", "etcd"] : ["apid", "kubelet"];
  return needed.every((id) => isHealthy(machine.services[id]));
}
