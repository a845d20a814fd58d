// SPDX-License-Identifier: Apache-2.0
export { topologyOf } from "./from-environment.ts";
export { machineBoxes, type PictureForm } from "./layout.ts";
export { renderSvg, renderTopology, type TopologyFormat } from "./svg.ts";
export { type SeenMachine, type Topology, withLiveState } from "./topology.ts";
