// SPDX-License-Identifier: Apache-2.0
export { type Addon, type AddonSources, addonHash, type ChartCredentials, resolveAddon } from "./addon.ts";
export {
  type AddonOptions,
  type AddonState,
  addonState,
  applyAddon,
  applyAddons,
  releasesOf,
  releaseWithHash,
  removeAddon,
  rollbackAddon,
  surplusAddons,
} from "./apply.ts";
export { findHelm, type Helm } from "./helm.ts";
export type { Release, ReleaseId, Revision } from "./release.ts";
