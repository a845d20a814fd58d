// SPDX-License-Identifier: Apache-2.0
export { type Fault, type FaultKind, parseFault, plainFaults } from "./fault-schema.ts";
export { missingAddresses, noAddress, type Probe } from "./loopback.ts";
export { machineFile, type SimulatedMachine } from "./protocol.ts";
export { type SimulatorControl, simulatorAt } from "./simulator-control.ts";
