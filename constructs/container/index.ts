// SPDX-License-Identifier: Apache-2.0
export { DockerInfrastructure, type DockerInfrastructureProps } from "./docker-infrastructure.ts";
export { PodInfrastructure, type PodInfrastructureProps } from "./pod-infrastructure.ts";
export type { ContainerPoolSettings, ContainerResources } from "./talos-container.ts";
