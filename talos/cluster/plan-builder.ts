// SPDX-License-Identifier: Apache-2.0
import { type Step, type StepAction, step, stepId } from "./step.ts";

/** Collects steps in phases: whatever is added after `closePhase` waits for everything before it. */
export class PlanBuilder {
  readonly #steps = new Map<string, Step>();
  #barrier: readonly string[] = [];

  get steps(): readonly Step[] {
    return [...this.#steps.values()];
  }

  has(action: StepAction): boolean {
    return this.#steps.has(stepId(action));
  }

  /** Adds a step after the given ones; ids that are not in the plan need no waiting. Returns its id. */
  add(action: StepAction, after: readonly string[] = []): string {
    const id = stepId(action);
    const known = after.filter((other) => other !== id && this.#steps.has(other));
    const waitsFor = known.length > 0 ? known : this.#barrier;
    if (!this.#steps.has(id)) this.#steps.set(id, step(action, [...new Set(waitsFor)]));
    return id;
  }

  closePhase(): void {
    const waitedFor = new Set(this.steps.flatMap(({ after }) => after));
    this.#barrier = this.steps.map(({ id }) => id).filter((id) => !waitedFor.has(id));
  }
}
