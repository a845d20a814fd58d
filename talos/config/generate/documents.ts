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
  return [
    split ? smallV1alpha1Document(cluster, secrets, machine) : v1alpha1Document(cluster, secrets, machine),
    ...(split ? systemDocuments(cluster, secrets, machine) : []),
    ...(contract.registryDocuments ? registryDocuments(cluster) : []),
    ...(contract.hostnameDocument ? [hostnameDocument(machine)] : []),
    ...(contract.kubeSpanDocument && cluster.kubespan !== undefined
      ? [document("KubeSpanConfig", { enabled: cluster.kubespan })]
      : []),
    ...(split ? nodeDocuments(cluster, secrets, machine) : []),
    ...(split && machine.type === "controlplane" ? controlPlaneDocuments(cluster, secrets) : []),
    ...(contract.networkDocuments ? networkDocuments(cluster, machine) : []),
  ];
}

function registryDocuments(cluster: ResolvedCluster): readonly Section[] {
  return Object.entries(cluster.registryMirrors)
    .sort(([left], [right]) => compareKeys(left, right))
    .map(([name, endpoints]) =>
      document("RegistryMirrorConfig", { name, endpoints: endpoints.map((url) => ({ url })) }),
    );
}
