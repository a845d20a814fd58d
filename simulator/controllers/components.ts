// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { etcdMemberOf } from "../machine/etcd.ts";
import { isHealthy, isUp } from "../machine/life.ts";
import { componentImages, kubernetesCas, type NodeConfig } from "../machine/node-config.ts";
import type { Controller, Moment } from "../machine/timings.ts";
import { type Machine, mapMachines, without } from "../machine/world.ts";
import { clusterOf, configOf, isControlPlane } from "./membership.ts";
import { restartService } from "./services.ts";

/** Follows images and CAs in the config: another one restarts what runs with it and counts its version up. */
export const components: Controller = (world, moment) =>
  mapMachines(world, (machine) => {
    const config = configOf(machine);
    if (config === undefined || !isUp(machine.life)) return machine;
    const authorities = fingerprintOf(config);
    const images = config.type === "controlplane" ? componentImages(config) : { kubelet: config.images.kubelet };
    return Object.entries(images).reduce(
      (next, [name, image]) => follow(next, name, { image, authorities }, moment),
      machine,
    );
  });

/** Whom the components of Kubernetes trust. */
function fingerprintOf(config: NodeConfig): string {
  return createHash("sha256").update(kubernetesCas(config).join()).digest("hex");
}

interface Wanted {
  readonly image: string;
  readonly authorities: string;
}

function follow(machine: Machine, name: string, wanted: Wanted, moment: Moment): Machine {
  const known = machine.components[name];
  // A world that was kept before there were authorities in it has those of its configs.
  if (known?.image === wanted.image && (known.authorities ?? wanted.authorities) === wanted.authorities) {
    if (known.authorities !== undefined) return machine;
    return { ...machine, components: { ...machine.components, [name]: { ...known, ...wanted } } };
  }
  const version = (known?.version ?? 0) + 1;
  const noted: Machine = { ...machine, components: { ...machine.components, [name]: { ...wanted, version } } };
  if (known === undefined) return noted;
  if (name === "kubelet") return restartService(noted, "kubelet", moment.now, moment.timings.service);
  // The API server is away while its pod is replaced; the other two are not missed.
  if (name === "kube-apiserver" && machine.staticPodsAt !== undefined) {
    return { ...noted, staticPodsAt: moment.now + moment.timings.staticPods };
  }
  return noted;
}

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
