// SPDX-License-Identifier: Apache-2.0
import { isUp } from "../machine/life.ts";
import type { Controller, Moment } from "../machine/moment.ts";
import type { NodeConfig } from "../machine/node-config.ts";
import { type Machine, mapMachines } from "../machine/world.ts";
import { configOf } from "./membership.ts";
import { restartService } from "./services.ts";

/** Follows the images in the config: a new one restarts what runs from it and counts its version up. */
export const components: Controller = (world, moment) =>
  mapMachines(world, (machine) => {
    const config = configOf(machine);
    if (config === undefined || !isUp(machine.life)) return machine;
    return Object.entries(wantedImages(config)).reduce(
      (next, [name, image]) => follow(next, name, image, moment),
      machine,
    );
  });

function wantedImages({ type, images }: NodeConfig): Readonly<Record<string, string>> {
  const { kubelet } = images;
  if (type !== "controlplane") return { kubelet };
  return {
    kubelet,
    "kube-apiserver": images.apiServer,
    "kube-controller-manager": images.controllerManager,
    "kube-scheduler": images.scheduler,
  };
}

function follow(machine: Machine, name: string, image: string, moment: Moment): Machine {
  const known = machine.components[name];
  if (known?.image === image) return machine;
  const version = (known?.version ?? 0) + 1;
  const noted: Machine = { ...machine, components: { ...machine.components, [name]: { image, version } } };
  if (known === undefined) return noted;
  if (name === "kubelet") return restartService(noted, "kubelet", moment.now, moment.timings.service);
  // The API server is away while its pod is replaced; the other two are not missed.
  if (name === "kube-apiserver" && machine.staticPodsAt !== undefined) {
    return { ...noted, staticPodsAt: moment.now + moment.timings.staticPods };
  }
  return noted;
}
