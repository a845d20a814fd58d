// SPDX-License-Identifier: Apache-2.0

export {
  clusterSettings,
  controlPlaneSettings,
  machineSettings,
  poolSettings,
  scalingPoolLabel,
  scalingPoolSettings,
  workerSettings,
} from "./cluster.ts";
export { addonSettings, bucketSettings, chartCredentialSettings } from "./day-two.ts";
export { evenControlPlanes } from "./even-control-planes.ts";
export { type Canary, type Gate, type Rollout, rolloutSettings, type Window } from "./rollout.ts";
export type {
  AirGap,
  DiskEncryption,
  EncryptionKey,
  Firewall,
  FirewallRule,
  PatchesByMachine,
} from "./sections.ts";
export {
  type ArgumentsOf,
  argumentsOf,
  type CniChoice,
  defaultOf,
  differing,
  type Form,
  fileRows,
  type GivenOf,
  givenIn,
  type InputOf,
  isDefault,
  optionsOf,
  parseDuration,
  type Setting,
  type SettingName,
  type Settings,
  type SettingType,
  type SimpleType,
  type StateOfSettings,
  settingsIn,
  type ValuesOf,
  withDefaults,
} from "./setting.ts";
