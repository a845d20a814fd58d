// SPDX-License-Identifier: Apache-2.0

import type { Controller } from "../machine/moment.ts";
import { readNodeConfig } from "../machine/node-config.ts";

/** Drops what a cluster shared once no machine has its config any more, running or on disk. */
export const forgottenClusters: Controller = (world) => {
  const keys = Object.keys(world.clusters);
  if (keys.length === 0) return world;
  const configs = Object.values(world.machines).flatMap((machine) => [machine.activeConfig, machine.disk.config]);
  const alive = new Set(configs.flatMap((text) => (text === undefined ? [] : [readNodeConfig(text).clusterKey])));
  if (keys.every((key) => alive.has(key))) return world;
  return { ...world, clusters: Object.fromEntries(Object.entries(world.clusters).filter(([key]) => alive.has(key))) };
};
