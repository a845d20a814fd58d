// SPDX-License-Identifier: Apache-2.0
import type { SecretsBundle } from "../../secrets/index.ts";
import { stringifyYamlDocuments } from "../../yaml-writer.ts";
import { type ClusterConfig, type MachineConfigInput, resolveCluster } from "../cluster-config.ts";
import { applyPatches, parsePatch } from "../patch/apply.ts";
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
  const resolved = resolveCluster(cluster);
  const quotes = resolved.contract.kubernetesDocuments ? "single" : "double";
  const text = stringifyYamlDocuments(machineDocuments(resolved, secrets, machine), quotes);
  const patches = (machine.patches ?? []).map((patch, index) => parsePatch(patch, `patch ${index + 1}`));
  return applyPatches(text, patches, "config");
}
