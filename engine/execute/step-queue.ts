// SPDX-License-Identifier: Apache-2.0
import type { Step } from "../step.ts";

/**
 * Which steps may begin. It counts down what each waits for: to look through all that wait after every one that ends
 * would make a thousand machines a million times as much work as one.
 */
export class StepQueue {
  readonly #missing = new Map<Step, number>();
  readonly #followers = new Map<string, Step[]>();
  /** Those that wait for nobody. */
  readonly ready: readonly Step[];

  constructor(steps: readonly Step[]) {
    for (const step of steps) {
      const before = new Set(step.after);
      if (before.size > 0) this.#missing.set(step, before.size);
      for (const id of before) {
        const followers = this.#followers.get(id);
        if (followers === undefined) this.#followers.set(id, [step]);
        else followers.push(step);
      }
    }
    this.ready = steps.filter((step) => !this.#missing.has(step));
  }

  /** Returns the steps that have waited for this one last, in the order of the plan. */
  finish({ id }: Step): readonly Step[] {
    const freed: Step[] = [];
    for (const step of this.#followers.get(id) ?? []) {
      const left = (this.#missing.get(step) ?? 0) - 1;
      if (left > 0) this.#missing.set(step, left);
      else if (this.#missing.delete(step)) freed.push(step);
    }
    return freed;
  }

  /** Those that may not begin yet. */
  get waiting(): readonly Step[] {
    return [...this.#missing.keys()];
  }
}
