// SPDX-License-Identifier: Apache-2.0
import type { ClusterSpec } from "../../../engine/index.ts";
import { attribute, parseJson, valueFromJson } from "../../framework/index.ts";

import { type ClusterState, clusterAttributes } from "./attributes.ts";
import { clusterSpec } from "./spec.ts";

/** The cluster that a state's `talosmith_cluster` tells of, and the files with more patches of each machine. */
export interface RecordedCluster {
  readonly spec: ClusterSpec;
  readonly patchFiles: ReadonlyMap<string, readonly string[]>;
}

/** Reads the attributes of the resource, as JSON. Undefined for workers of another stack's control plane. */
export async function recordedCluster(attributes: string): Promise<RecordedCluster | undefined> {
  const state = valueFromJson(
    attribute.objectOfAttributes(clusterAttributes),
    parseJson(attributes),
  ) as unknown as ClusterState;
  if (state.join !== null) return undefined;
  const files = Object.entries(state.machines).map(([name, { patch_files: own }]) => [name, own ?? []] as const);
  return { spec: await clusterSpec(state), patchFiles: new Map(files) };
}
