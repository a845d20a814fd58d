// SPDX-License-Identifier: Apache-2.0
import { type Step, type StepAction, step, stepId } from "../step.ts";

/** Collects steps in phases: whatever is added after `closePhase` waits for everything before it. */
export class PlanBuilder {
  readonly #steps = new Map<string, Step>();
  /** Ids of the phase that is open. */
  #phase = new Set<string>();
  #barrier: readonly string[] = [];

  get steps(): readonly Step[] {
    return [...this.#steps.values()];
  }

  has(action: StepAction): boolean {
    return this.#steps.has(stepId(action));
  }

  /**
   * Adds a step after the given ones; ids that are not in the plan need no waiting, and those of earlier phases are
   * waited for with the rest of their phase. Returns its id.
   */
  add(action: StepAction, after: readonly string[] = []): string {
    const id = stepId(action);
    if (this.#steps.has(id)) return id;
    const known = after.filter((other) => this.#phase.has(other));
    this.#steps.set(id, step(action, known.length > 0 ? [...new Set(known)] : this.#barrier));
    this.#phase.add(id);
    return id;
  }

  closePhase(): void {
    const waitedFor = new Set(this.steps.flatMap(({ after }) => after));
    this.#phase = new Set();
    this.#barrier = this.steps.map(({ id }) => id).filter((id) => !waitedFor.has(id));
  }
}
