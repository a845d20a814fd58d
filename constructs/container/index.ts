// SPDX-License-Identifier: Apache-2.0
export {
  DockerInfrastructure,
  type DockerInfrastructureProps,
  type DockerNetworkReference,
} from "./docker-infrastructure.ts";
export { type KubernetesNamespace, PodInfrastructure, type PodInfrastructureProps } from "./pod-infrastructure.ts";
export type { ContainerPoolSettings, ContainerResources } from "./talos-container.ts";
