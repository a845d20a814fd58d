// SPDX-License-Identifier: Apache-2.0
import type { Controller, Moment } from "../machine/moment.ts";
import type { World } from "../machine/world.ts";
import { components, staticPods } from "./components.ts";
import { etcdLeader, etcdMembership } from "./etcd.ts";
import { expiredFaults, forgottenClusters, terminatingPods, tryMode } from "./expiry.ts";
import { kubelets } from "./kubelets.ts";
import { statusEvents } from "./machine-status.ts";
import { bootCompletion, power } from "./power.ts";
import { services } from "./services.ts";
import { virtualIp } from "./virtual-ip.ts";
import { workloads } from "./workloads.ts";

const controllers: readonly Controller[] = [
  expiredFaults,
  power,
  tryMode,
  components,
  services,
  etcdMembership,
  etcdLeader,
  virtualIp,
  staticPods,
  kubelets,
  workloads,
  terminatingPods,
  bootCompletion,
  forgottenClusters,
];

/** Runs every controller until none has anything to do at this moment. */
export function reconcile(world: World, moment: Moment): World {
  let current = world;
  for (let round = 0; round < 100; round += 1) {
    const next = controllers.reduce((state, controller) => controller(state, moment), current);
    if (next === current) return statusEvents(current, moment);
    current = next;
  }
  throw new Error("the controllers do not come to rest: two of them undo each other");
}
