// SPDX-License-Identifier: Apache-2.0
import type { SecretsBundle } from "../../secrets/index.ts";
import { type ClusterConfig, type MachineConfigInput, resolveCluster } from "../cluster-config.ts";
import { documentsOf } from "../document/config-file.ts";
import { parsePatch, patchDocuments } from "../patch/apply.ts";
import { machineDocuments } from "./documents.ts";

/**
 * The config of one machine as YAML, byte-equal to what talosctl writes without docs and examples for the same
 * secrets and options. Pure: the same input gives the same text.
 */
export function generateMachineConfig(
  cluster: ClusterConfig,
  secrets: SecretsBundle,
  machine: MachineConfigInput,
): string {
  const documents = documentsOf(machineDocuments(resolveCluster(cluster), secrets, machine));
  const patches = (machine.patches ?? []).map((patch, index) =>
    typeof patch === "string" ? parsePatch(patch, `patch ${index + 1}`) : patch,
  );
  return patchDocuments(documents, patches);
}
