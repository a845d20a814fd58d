// SPDX-License-Identifier: Apache-2.0
import { readNodeConfig } from "./node-config.ts";
import { type World, withCluster } from "./world.ts";

/** The place for what this config's cluster will share, made when its first machine is configured. */
export function ensureCluster(world: World, text: string): World {
  const key = readNodeConfig(text).clusterKey;
  if (world.clusters[key] !== undefined) return world;
  return withCluster(world, { key, objects: {}, revision: 1, kubelets: {} });
}
