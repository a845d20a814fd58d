// SPDX-License-Identifier: Apache-2.0
import { type Step, type StepAction, step, stepId } from "../step.ts";

/** Collects steps in phases: whatever is added after `closePhase` waits for everything before it. */
export class PlanBuilder {
  readonly #steps = new Map<string, Step>();
  /** Ids of the phase that is open. */
  #phase = new Set<string>();
  /** Those of them that no other waits for. */
  #ends = new Set<string>();
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
    for (const other of known) this.#ends.delete(other);
    this.#phase.add(id);
    this.#ends.add(id);
    return id;
  }

  closePhase(): void {
    // The first step of a phase waits for all that was open before it.
    if (this.#phase.size === 0) return;
    this.#barrier = [...this.#ends];
    this.#phase = new Set();
    this.#ends = new Set();
  }
}
