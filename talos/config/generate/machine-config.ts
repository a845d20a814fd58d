// SPDX-License-Identifier: Apache-2.0
import type { SecretsBundle } from "../../secrets/index.ts";
import { compareKeys } from "../../yaml/index.ts";
import {
  type ClusterConfig,
  type MachineConfigInput,
  type ResolvedCluster,
  resolveCluster,
} from "../cluster-config.ts";
import { type ConfigDocument, documentsOf, encodeConfig } from "../document/config-file.ts";
import { MachineConfig } from "../machine-config.ts";
import { type InstallFacts, installFactsOf } from "../machine-facts.ts";
import { parsePatch, patchDocuments } from "../patch/apply.ts";
import { type ConfigRules, configRules } from "../rules.ts";
import { document, type Section } from "./common-values.ts";
import { hostnameDocument, networkDocuments } from "./network.ts";
import { controlPlaneDocuments, nodeDocuments, smallV1alpha1Document, systemDocuments } from "./split-documents.ts";
import { v1alpha1Document } from "./v1alpha1-document.ts";

/**
 * The config of one machine as YAML, byte-equal to what talosctl writes without docs and examples for the same
 * secrets and options. Pure: the same input gives the same text.
 */
export function generateMachineConfig(
  cluster: ClusterConfig,
  secrets: SecretsBundle,
  machine: MachineConfigInput,
): string {
  const rules = rulesOf(cluster);
  return encodeConfig(patchedDocuments(cluster, secrets, machine, rules), rules);
}

/** The same with what is needed of it to install the machine, without reading the text again. */
export function generateConfigWithFacts(
  cluster: ClusterConfig,
  secrets: SecretsBundle,
  machine: MachineConfigInput,
): { readonly config: MachineConfig; readonly facts: InstallFacts } {
  const rules = rulesOf(cluster);
  const documents = patchedDocuments(cluster, secrets, machine, rules);
  return { config: MachineConfig.of(documents, rules), facts: installFactsOf(documents) };
}

function rulesOf({ contract, talosVersion }: ClusterConfig): ConfigRules {
  return configRules(contract ?? talosVersion.contract, talosVersion);
}

function patchedDocuments(
  cluster: ClusterConfig,
  secrets: SecretsBundle,
  machine: MachineConfigInput,
  rules: ConfigRules,
): readonly ConfigDocument[] {
  const documents = documentsOf(machineDocuments(resolveCluster(cluster), secrets, machine));
  const patches = (machine.patches ?? []).map((patch, index) =>
    typeof patch === "string" ? parsePatch(patch, `patch ${index + 1}`, rules) : patch,
  );
  return patchDocuments(documents, patches, rules);
}

/** All documents of one machine, before patches, in the order in which talosctl writes them. */
function machineDocuments(
  cluster: ResolvedCluster,
  secrets: SecretsBundle,
  machine: MachineConfigInput,
): readonly Section[] {
  const { contract } = cluster;
  const split = contract.kubernetesDocuments;
  const documents: Section[] = split
    ? [smallV1alpha1Document(cluster, secrets, machine), ...systemDocuments(cluster, secrets, machine)]
    : [v1alpha1Document(cluster, secrets, machine)];
  if (contract.registryDocuments) documents.push(...registryDocuments(cluster));
  if (contract.hostnameDocument) documents.push(hostnameDocument(machine));
  if (contract.kubeSpanDocument && cluster.kubespan !== undefined)
    documents.push(document("KubeSpanConfig", { enabled: cluster.kubespan }));
  if (split) documents.push(...nodeDocuments(cluster, secrets, machine));
  if (split && machine.type === "controlplane") documents.push(...controlPlaneDocuments(cluster, secrets));
  if (contract.networkDocuments) documents.push(...networkDocuments(cluster, machine));
  return documents;
}

function registryDocuments(cluster: ResolvedCluster): readonly Section[] {
  return Object.entries(cluster.registryMirrors)
    .sort(([left], [right]) => compareKeys(left, right))
    .map(([name, endpoints]) =>
      document("RegistryMirrorConfig", { name, endpoints: endpoints.map((url) => ({ url })) }),
    );
}
