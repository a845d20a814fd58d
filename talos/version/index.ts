// SPDX-License-Identifier: Apache-2.0
export { Contract } from "./contract.ts";
export { KubernetesVersion } from "./kubernetes-version.ts";
export { completeVersion, parseSemanticVersion } from "./semantic-version.ts";
export { defaultTalosVersion, TalosVersion } from "./talos-version.ts";
