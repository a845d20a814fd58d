// SPDX-License-Identifier: Apache-2.0
export type { DaemonCommand } from "./daemon-process.ts";
export { type Fault, type FaultKind, parseFault, plainFaults } from "./fault-schema.ts";
export type { CreateMachine, SimulatedMachine } from "./protocol.ts";
export { type SimulatorControl, type SimulatorOptions, simulatorAt } from "./simulator-control.ts";
