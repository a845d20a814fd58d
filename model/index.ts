// SPDX-License-Identifier: Apache-2.0

export { addonsOf, infrastructureAddonsOf } from "./environment/addons.ts";
export {
  addressesOf,
  gatewayOf,
  knownAddresses,
  type LibvirtNetwork,
  nameserversOf,
  placeMachine,
  usualMacPrefix,
} from "./environment/addressing.ts";
export { awsAddons } from "./environment/aws-addons.ts";
export { type AwsZones, zoneNames, zoneNumber, zoneOrder } from "./environment/aws-zones.ts";
export { type EnvironmentParts, type PartFault, partFaults, sectionFaults } from "./environment/check-parts.ts";
export { Cidr } from "./environment/cidr.ts";
export { type ListItem, listItems, prependItems, replaceItems } from "./environment/edit-list.ts";
export { editValue } from "./environment/edit-value.ts";
export {
  controlPlanePool,
  type Environment,
  listedMachinesOf,
  type MachinePlan,
  type MetalEnvironment,
  machinesOf,
  poolInAddresses,
  type Role,
} from "./environment/environment.ts";
export { EnvironmentError, type Fault, formatFault } from "./environment/fault.ts";
export { describeFirstContact, firstContactOf } from "./environment/first-contact.ts";
export {
  type FirstEnvironment,
  firstEnvironment,
  questionsOf,
  schemaPaths,
  wrongAnswer,
} from "./environment/first-environment.ts";
export { environmentJsonSchema, environmentReference } from "./environment/json-schema.ts";
export {
  fileReader,
  listEnvironments,
  loadEnvironment,
  loadExistingEnvironment,
} from "./environment/load-environment.ts";
export type { MetalNetwork } from "./environment/metal.ts";
export { metalPatches, staticAddress } from "./environment/metal-patches.ts";
export { sharedWithNeighbours } from "./environment/neighbours.ts";
export { ownBucket, prunes } from "./environment/own-bucket.ts";
export { parseEnvironment } from "./environment/parse-environment.ts";
export { type PatchList, patchLists, placeOfPatch, referencedPatch } from "./environment/patch-lists.ts";
export { type PodNetwork, podNetworkOf } from "./environment/pod-network.ts";
export { formatSize, parseSize, type Size } from "./environment/quantity.ts";
export { type ReadFile, withTexts } from "./environment/references.ts";
export {
  availableVersions,
  changeVersion,
  contractToWrite,
  migratedContract,
  type VersionChange,
  type VersionField,
  withCount,
  withoutKubernetes,
} from "./environment/version-change.ts";
export { nodePatch, patchFilesOf, type ResolvedCluster, resolveCluster } from "./resolve-cluster.ts";
export { type Backend, type BackupSection, type Kind, kindNames, passphraseVariable } from "./schema/index.ts";
