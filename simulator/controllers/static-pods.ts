// SPDX-License-Identifier: Apache-2.0
import { etcdMemberOf } from "../machine/etcd.ts";
import { isUp } from "../machine/life.ts";
import type { Controller } from "../machine/moment.ts";
import { isHealthy } from "../machine/service-state.ts";
import { mapMachines, without } from "../machine/world.ts";
import { clusterOf, isControlPlane } from "./membership.ts";

/**
 * A control plane's API server, controller manager and scheduler: up some time after its own etcd member is a healthy
 * voter, and then for as long as the machine is up. A restarted kubelet leaves its containers alone.
 */
export const staticPods: Controller = (world, { now, timings }) =>
  mapMachines(world, (machine) => {
    if (!isUp(machine.life) || !isControlPlane(machine)) {
      return machine.staticPodsAt === undefined ? machine : without(machine, "staticPodsAt");
    }
    if (machine.staticPodsAt !== undefined || !isHealthy(machine.services.kubelet)) return machine;
    const member = etcdMemberOf(clusterOf(world, machine), machine.id);
    if (member === undefined || member.learner || !isHealthy(machine.services.etcd)) return machine;
    return { ...machine, staticPodsAt: now + timings.staticPods };
  });
