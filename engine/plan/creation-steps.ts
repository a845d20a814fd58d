// SPDX-License-Identifier: Apache-2.0
import type { Step } from "../step.ts";

/** Machines that are still to be made, told like steps of the engine, which comes when they are there. */
export function creationSteps(names: readonly string[]): readonly Pick<Step, "id" | "sentence" | "destructive">[] {
  return names.map((name) => ({ id: `create/${name}`, sentence: `make the machine ${name}`, destructive: false }));
}
