// SPDX-License-Identifier: Apache-2.0
export { type Assets, assetsFromSource, loadAssets } from "./assets.ts";
export { type RunningUi, type ServeOptions, serveUi } from "./serve.ts";
export type { OpenedCluster, Workshop } from "./workshop.ts";
