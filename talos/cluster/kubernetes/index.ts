// SPDX-License-Identifier: Apache-2.0
export type { KubernetesAccess } from "./api.ts";
export { kubernetesOver } from "./kubernetes.ts";
