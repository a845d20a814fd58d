// SPDX-License-Identifier: Apache-2.0
export { DockerInfrastructure, type DockerInfrastructureProps, DockerMachine } from "./docker-infrastructure.ts";
export { PodInfrastructure, type PodInfrastructureProps, PodMachine } from "./pod-infrastructure.ts";
export type { ContainerPoolSettings } from "./talos-container.ts";
