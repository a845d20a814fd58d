// SPDX-License-Identifier: Apache-2.0
export { topologyOf } from "./from-environment.ts";
export { machineBoxes } from "./layout.ts";
export { renderTopology, type TopologyFormat } from "./render.ts";
export { type MachineState, type SeenMachine, type Topology, withLiveState } from "./topology.ts";
