// SPDX-License-Identifier: Apache-2.0

export type { Fault, FaultKind } from "./control/fault-schema.ts";
export { type CriticalPathInput, criticalPath } from "./critical-path.ts";
export { findNetwork, freeAddress } from "./daemon/addresses.ts";
export type { DaemonOptions } from "./daemon/run-daemon.ts";
export { Simulator } from "./daemon/simulator.ts";
export type { StatusName } from "./machine/call-error.ts";
export { seededEntropy } from "./machine/chance.ts";
export { type Scheduler, type VirtualScheduler, virtualScheduler } from "./machine/scheduler.ts";
export { defaultTimings, type Moment, scaleTimings, type Timings } from "./machine/timings.ts";
export type { Cluster, KubernetesObject, Machine, World } from "./machine/world.ts";
export { type Listeners, startListeners } from "./network/listeners.ts";
export { resourceDefinitions } from "./resources/catalogue.ts";
export type { IncomingCall } from "./services/dispatch.ts";
export { type CallableMethod, callStream, callUnary, type InProcessOptions } from "./services/in-process.ts";

export { Simulation, type SimulationOptions } from "./simulation.ts";
