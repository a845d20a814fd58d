// SPDX-License-Identifier: Apache-2.0
export type { Fault, FaultBody, FaultKind } from "../machine/fault.ts";
export type { DaemonCommand } from "./daemon-process.ts";
export { parseFault, plainFaults } from "./fault-schema.ts";
export type { CreateMachine, SimulatedMachine } from "./protocol.ts";
export { type SimulatorControl, type SimulatorOptions, simulatorAt } from "./simulator-control.ts";
