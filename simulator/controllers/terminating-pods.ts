// SPDX-License-Identifier: Apache-2.0
import { deleteObject } from "../kubernetes/store.ts";
import type { Controller } from "../machine/moment.ts";
import { withCluster, without } from "../machine/world.ts";

/** Takes pods away when their time to stop is over. */
export const terminatingPods: Controller = (world, { now }) =>
  Object.values(world.clusters).reduce((next, cluster) => {
    const due = Object.entries(cluster.terminating ?? {}).filter(([, time]) => time <= now);
    if (due.length === 0) return next;
    const cleaned = due.reduce((state, [key]) => {
      const [namespace, name = ""] = key.split("/");
      return { ...deleteObject(state, "pods", namespace, name), terminating: without(state.terminating ?? {}, key) };
    }, cluster);
    return withCluster(next, cleaned);
  }, world);
