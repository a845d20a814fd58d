// SPDX-License-Identifier: Apache-2.0
export { Contract } from "./contract.ts";
export { KubernetesVersion, knownKubernetesVersions, newestKubernetesOf } from "./kubernetes-version.ts";
export type { DefaultChange } from "./releases.ts";
export { completeVersion, parseSemanticVersion } from "./semantic-version.ts";
export { contractOf, defaultTalosVersion, knownTalosVersions, newestTalosOf, TalosVersion } from "./talos-version.ts";
