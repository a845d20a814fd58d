// SPDX-License-Identifier: Apache-2.0
export { isCertificateFault, type KubernetesApi, kubernetesApi } from "./api.ts";
export { type InCluster, inClusterAccess } from "./in-cluster.ts";
export { keptSecret, secretIn } from "./kept-objects.ts";
export { kubernetesOver } from "./kubernetes.ts";
export { kubernetesLease, type Lease, type LeaseRecord } from "./lease-record.ts";
export { stuckPodsIn } from "./stuck-pods.ts";
