// SPDX-License-Identifier: Apache-2.0
import { clusterScenes } from "./cluster-scenes.ts";
import { discoveryScenes } from "./discovery-scenes.ts";
import type { Scene } from "./exchange.ts";
import { objectScenes } from "./object-scenes.ts";
import { workloadScenes } from "./workload-scenes.ts";

/** Everything that is asked of a Kubernetes API server, real or simulated. */
export const scenes: readonly Scene[] = [...discoveryScenes, ...objectScenes, ...workloadScenes, ...clusterScenes];
