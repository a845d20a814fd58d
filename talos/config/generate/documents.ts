// SPDX-License-Identifier: Apache-2.0
import type { SecretsBundle } from "../../secrets/index.ts";
import { compareKeys } from "../../yaml/index.ts";
import type { MachineConfigInput, ResolvedCluster } from "../cluster-config.ts";
import type { Section } from "./common-values.ts";
import { controlPlaneDocuments, document, nodeDocuments } from "./kubernetes-documents.ts";
import { hostnameDocument, networkDocuments } from "./network.ts";
import { smallV1alpha1Document, systemDocuments } from "./split-documents.ts";
import { v1alpha1Document } from "./v1alpha1-document.ts";

/** All documents of one machine, before patches, in the order in which talosctl writes them. */
export function machineDocuments(
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
