// SPDX-License-Identifier: Apache-2.0

export type { Fault } from "./control/fault-schema.ts";
export { criticalPath } from "./critical-path.ts";
export { findNetwork, freeAddress } from "./daemon/addresses.ts";
export { Simulator } from "./daemon/simulator.ts";
export { seededEntropy } from "./machine/chance.ts";
export { type VirtualScheduler, virtualScheduler } from "./machine/scheduler.ts";
export { defaultTimings, scaleTimings } from "./machine/timings.ts";
export type { Machine } from "./machine/world.ts";
export { type Listeners, startListeners } from "./network/listeners.ts";
export { resourceDefinitions } from "./resources/catalogue.ts";
export { type CallableMethod, callStream, callUnary, type InProcessOptions } from "./services/in-process.ts";
export { Simulation, type SimulationOptions } from "./simulation.ts";
