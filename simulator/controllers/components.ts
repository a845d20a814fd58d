// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { etcdMemberOf } from "../machine/etcd.ts";
import { faultOf } from "../machine/fault.ts";
import { isHealthy, isUp } from "../machine/life.ts";
import { componentImages, componentSettings, kubernetesCas, type NodeConfig } from "../machine/node-config.ts";
import type { Controller, Moment } from "../machine/timings.ts";
import { type Component, type Machine, mapMachines, without } from "../machine/world.ts";
import { clusterOf, configOf, isControlPlane } from "./membership.ts";
import { restartService } from "./services.ts";

/** Follows the config: another image, CA or setting replaces what runs with it and counts its version up. */
export const components: Controller = (world, moment) =>
  mapMachines(world, (machine) => {
    const config = configOf(machine);
    if (config === undefined || !isUp(machine.life)) return machine;
    const authorities = fingerprintOf(config);
    const images = config.type === "controlplane" ? componentImages(config) : { kubelet: config.images.kubelet };
    const settings: Readonly<Record<string, string>> = componentSettings(config);
    return Object.entries(images).reduce(
      (next, [name, image]) => follow(next, name, { image, authorities, settings: settings[name] ?? "" }, moment),
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
  readonly settings: string;
}

function follow(machine: Machine, name: string, wanted: Wanted, moment: Moment): Machine {
  const known = machine.components[name];
  // A world that was kept before there were authorities and settings in it has those of its configs.
  const now = known && { ...wanted, ...known };
  if (now?.image === wanted.image && now.authorities === wanted.authorities && now.settings === wanted.settings)
    return known?.authorities !== undefined && known.settings !== undefined
      ? machine
      : withComponent(machine, name, now);
  const component = { ...wanted, version: (known?.version ?? 0) + 1 };
  if (known === undefined) return withComponent(machine, name, component);
  if (name === "kubelet")
    return restartService(withComponent(machine, name, component), "kubelet", moment.now, moment.timings.service);
  if (machine.staticPodsAt === undefined) return withComponent(machine, name, component);
  const readyAt = moment.now + replacementTime(machine, moment);
  const replaced = withComponent(machine, name, { ...component, readyAt });
  return name === "kube-apiserver" ? loseLeases({ ...replaced, staticPodsAt: readyAt }, readyAt, moment) : replaced;
}

function withComponent(machine: Machine, name: string, component: Component): Machine {
  return { ...machine, components: { ...machine.components, [name]: component } };
}

/** How long the kubelet takes to replace a static pod. */
function replacementTime({ faults }: Machine, { now, timings }: Moment): number {
  return faultOf(faults, "slow-static-pods", now)?.milliseconds ?? timings.staticPods;
}

/**
 * The controllers of a machine speak to its own API server: while that is away they lose their leases and exit, and start
 * once more when it is back.
 */
function loseLeases(machine: Machine, backAt: number, { timings }: Moment): Machine {
  return ["kube-controller-manager", "kube-scheduler"].reduce((next, name) => {
    const known = next.components[name];
    if (known === undefined) return next;
    const restarts = (known.restarts ?? 0) + 1;
    return withComponent(next, name, { ...known, restarts, readyAt: backAt + timings.service });
  }, machine);
}

/**
 * A control plane's API server, controller manager and scheduler: up some time after its own etcd member is a healthy
 * voter, and then for as long as the machine is up. A restarted kubelet leaves its containers alone.
 */
export const staticPods: Controller = (world, moment) =>
  mapMachines(world, (machine) => {
    if (!isUp(machine.life) || !isControlPlane(machine)) {
      return machine.staticPodsAt === undefined ? machine : without(machine, "staticPodsAt");
    }
    if (machine.staticPodsAt !== undefined || !isHealthy(machine.services.kubelet)) return machine;
    const member = etcdMemberOf(clusterOf(world, machine), machine.id);
    if (member === undefined || member.learner || !isHealthy(machine.services.etcd)) return machine;
    return { ...machine, staticPodsAt: moment.now + replacementTime(machine, moment) };
  });
