// SPDX-License-Identifier: Apache-2.0

import type { Controller, Moment } from "../machine/moment.ts";
import type { World } from "../machine/world.ts";
import { bootCompletion } from "./boot-completion.ts";
import { components } from "./components.ts";
import { etcdLeader } from "./etcd-leader.ts";
import { etcdMembership } from "./etcd-membership.ts";
import { expiredFaults } from "./expired-faults.ts";
import { forgottenClusters } from "./forgotten-clusters.ts";
import { kubelets } from "./kubelets.ts";
import { power } from "./power.ts";
import { services } from "./services.ts";
import { staticPods } from "./static-pods.ts";
import { statusEvents } from "./status-events.ts";
import { terminatingPods } from "./terminating-pods.ts";
import { tryMode } from "./try-mode.ts";
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
