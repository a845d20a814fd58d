// SPDX-License-Identifier: Apache-2.0
export { stateFile } from "./backend.ts";
export * from "./cluster/index.ts";
export { EnvironmentStack } from "./environment-stack.ts";
export { ConstructAssumptionError, ConstructInputError } from "./errors.ts";
export { SimulatedInfrastructure, SimulatedMachine } from "./simulated/index.ts";
export {
  type SynthesizedStack,
  type SynthFailure,
  type SynthOptions,
  type SynthResult,
  synthesize,
} from "./synthesize.ts";
export { talosmithProvider } from "./talosmith/index.ts";
export { TalosStack } from "./terraform/index.ts";
