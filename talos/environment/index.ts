// SPDX-License-Identifier: Apache-2.0

export { type AddonPlan, addonsOf } from "./addons.ts";
export {
  type AddressedMachine,
  addressesOf,
  gatewayOf,
  type LibvirtNetwork,
  nameserversOf,
  type Place,
  placeMachine,
} from "./addressing.ts";
export { wrongAnswer } from "./check-answer.ts";
export { type EnvironmentParts, type PartFault, partFaults } from "./check-parts.ts";
export { Cidr } from "./cidr.ts";
export type { ContainerEnvironment } from "./container.ts";
export {
  type ControlPlane,
  controlPlanePool,
  type Environment,
  type Infrastructure,
  type MachinePlan,
  type MetalEnvironment,
  machinesOf,
  type Patches,
  type Role,
  type WorkerPool,
} from "./environment.ts";
export { EnvironmentError, type Fault, formatFault, type Position } from "./fault.ts";
export { describeFirstContact, firstContactOf } from "./first-contact.ts";
export {
  type FirstEnvironment,
  type FirstQuestion,
  firstEnvironment,
  questionsOf,
  schemaPaths,
} from "./first-environment.ts";
export { environmentJsonSchema, environmentReference } from "./json-schema.ts";
export { fileReader, listEnvironments, loadEnvironment, loadExistingEnvironment } from "./load-environment.ts";
export type {
  DiskSelector,
  MetalMachineSettings,
  MetalNetwork,
} from "./metal.ts";
export { metalPatches, staticAddress } from "./metal-patches.ts";
export { nodePatch } from "./node-patch.ts";
export { parseEnvironment } from "./parse-environment.ts";
export { withCount } from "./pool-count.ts";
export { formatSize } from "./quantity.ts";
export type { ReadFile } from "./references.ts";
export { type Backend, type BackupSection, type Kind, kindNames, passphraseVariable } from "./schema/index.ts";
export { changeVersion, type VersionChange, type VersionField } from "./version-change.ts";
