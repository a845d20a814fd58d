// SPDX-License-Identifier: Apache-2.0
export type { ClusterView, MachineDetail, MachineRow } from "../shared/wire.ts";
export { assetsFromSource, loadAssets } from "./assets.ts";
export { ClusterViews } from "./cluster-views.ts";
export { findMachine, machineDetail, unknownMachine } from "./machine-detail.ts";
export { sentenceOf } from "./machine-streams.ts";
export type { ConsoleProject } from "./project.ts";
export { type RunningUi, type ServeOptions, serveUi } from "./serve.ts";
