// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import type { Step } from "../step.ts";
import { execute } from "./execute.ts";
import type { StepContext } from "./step-context.ts";
import { canceled, throwIfCanceled } from "./timing.ts";

/**
 * Runs every step as soon as those before it are finished, side by side where the plan allows. After the first failure
 * nothing new is begun and nobody waits any longer; calls that are under way get their answers. A gate that does not
 * open stops only what comes after it.
 */
export async function runSteps(steps: readonly Step[], context: StepContext): Promise<void> {
  const queue = new StepQueue(steps);
  let failure: TalosError | undefined;
  let held: TalosError | undefined;
  const stopped: string[] = [];

  const beginAll = async (ready: readonly Step[]): Promise<void> => {
    await Promise.all(ready.map(begin));
  };
  const begin = async (step: Step): Promise<void> => {
    if (failure !== undefined || context.signal?.aborted) return;
    context.emit({ type: "step-started", message: step.sentence, machine: step.machine, step });
    try {
      await perform(step, context);
    } catch (error) {
      const ours = TalosError.from(error);
      if (holds.has(step.kind) && ours.code !== "canceled") {
        held ??= ours;
        context.emit({ type: "step-failed", message: ours.message, machine: step.machine, step });
        return;
      }
      const message = endOf(ours, failure, step, context);
      if (isStopped(ours, context)) stopped.push(doingOf(step, context));
      failure ??= ours;
      context.halt();
      context.emit({ type: "step-failed", message, machine: step.machine, step });
      return;
    }
    context.emit({ type: "step-finished", message: step.sentence, machine: step.machine, step });
    await beginAll(queue.finish(step));
  };

  await beginAll(queue.ready);
  if (stopped.length > 0 && isStopped(failure, context)) throw canceled(stopped.join("; "));
  if (failure !== undefined) throw failure;
  throwIfCanceled(context.signal);
  if (held !== undefined) throw held;
  const stuck = queue.waiting;
  if (stuck.length > 0) {
    throw new TalosError("internal", `steps wait for each other: ${stuck.map(({ id }) => id).join(", ")}`);
  }
}

/** What they stop has not begun; what has is finished, so that no machine stays half done behind a closed window. */
const holds: ReadonlySet<Step["kind"]> = new Set(["gate", "pause"]);

function isStopped(error: TalosError | undefined, { signal }: StepContext): boolean {
  return signal?.aborted === true && error?.code === "canceled";
}

function doingOf(step: Step, context: StepContext): string {
  const reason = context.reasonOf(step);
  return reason === undefined ? step.sentence : `${step.sentence} (${reason})`;
}

/** Whoever stops the run wants to know what it was at and why that took so long, not of the calls that were cut off. */
function endOf(error: TalosError, before: TalosError | undefined, step: Step, context: StepContext): string {
  if (isStopped(error, context)) return `stopped: ${doingOf(step, context)}`;
  return before === undefined ? error.message : "stopped, because another step failed";
}

const waits: ReadonlySet<Step["kind"]> = new Set(["join-etcd", "join-kubernetes", "await-components", ...holds]);

/** Steps that only wait need no leave and leave no trace. */
async function perform(step: Step, context: StepContext): Promise<void> {
  if (waits.has(step.kind)) return execute(step, context);
  await context.claim();
  await context.record(step, "begun");
  try {
    await execute(step, context);
  } catch (error) {
    // A journal that cannot be written must not hide why the step failed.
    await context.record(step, "failed").catch(() => {});
    throw error;
  }
  await context.record(step, "finished");
}

/**
 * Which steps may begin. It counts down what each waits for: to look through all that wait after every one that ends
 * would make a thousand machines a million times as much work as one.
 */
class StepQueue {
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
