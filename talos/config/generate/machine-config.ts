// SPDX-License-Identifier: Apache-2.0
import type { SecretsBundle } from "../../secrets/index.ts";
import { type ClusterConfig, type MachineConfigInput, resolveCluster } from "../cluster-config.ts";
import { type ConfigDocument, documentsOf, encodeConfig } from "../document/config-file.ts";
import { MachineConfig } from "../machine-config.ts";
import { type InstallFacts, installFactsOf } from "../machine-facts.ts";
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
  return encodeConfig(patchedDocuments(cluster, secrets, machine));
}

/** The same with what is needed of it to install the machine, without reading the text again. */
export function generateConfigWithFacts(
  cluster: ClusterConfig,
  secrets: SecretsBundle,
  machine: MachineConfigInput,
): { readonly config: MachineConfig; readonly facts: InstallFacts } {
  const documents = patchedDocuments(cluster, secrets, machine);
  return { config: MachineConfig.of(documents), facts: installFactsOf(documents) };
}

function patchedDocuments(
  cluster: ClusterConfig,
  secrets: SecretsBundle,
  machine: MachineConfigInput,
): readonly ConfigDocument[] {
  const documents = documentsOf(machineDocuments(resolveCluster(cluster), secrets, machine));
  const patches = (machine.patches ?? []).map((patch, index) =>
    typeof patch === "string" ? parsePatch(patch, `patch ${index + 1}`) : patch,
  );
  return patchDocuments(documents, patches);
}
