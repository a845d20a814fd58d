// SPDX-License-Identifier: Apache-2.0
export { SimulatedInfrastructure, SimulatedMachine } from "./simulated-infrastructure.ts";
