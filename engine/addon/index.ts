// SPDX-License-Identifier: Apache-2.0
export { type Addon, type AddonSources, addonHash, resolveAddon } from "./addon.ts";
export {
  type AddonOptions,
  addonState,
  applyAddon,
  applyAddons,
  releasesOf,
  releaseWithHash,
  removeAddon,
  rollbackAddon,
  surplusAddons,
} from "./apply.ts";
export { findHelm, type Helm, hasHelm } from "./helm.ts";
export type { Release } from "./release.ts";
