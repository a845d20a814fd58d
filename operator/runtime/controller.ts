// SPDX-License-Identifier: Apache-2.0
import { setMaxListeners } from "node:events";
import { TalosError } from "../../talos/errors.ts";
import type { WorkQueue } from "./queue.ts";

/** When an object is looked at again by itself. Undefined: when it changes. */
export type Outcome = { readonly after: number } | undefined;

export interface ControllerOptions {
  readonly queue: WorkQueue;
  /** How many objects are worked on at once. */
  readonly workers: number;
  /** Makes of an object what its spec says, as far as it goes now. Throws to be asked again later. */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<Outcome>;
  readonly failed: (key: string, error: TalosError, again: number) => void;
}

/** Work on the objects of one kind. */
export class Controller {
  readonly queue: WorkQueue;
  readonly #options: ControllerOptions;
  readonly #running = new Map<string, AbortController>();

  constructor(options: ControllerOptions) {
    this.queue = options.queue;
    this.#options = options;
  }

  /** Until the signal fires and everything has come to a safe point. */
  async run(signal: AbortSignal): Promise<void> {
    const close = () => this.queue.close();
    signal.addEventListener("abort", close, { once: true });
    if (signal.aborted) close();
    await Promise.all(Array.from({ length: this.#options.workers }, () => this.#work(signal)));
    signal.removeEventListener("abort", close);
  }

  /** The spec has changed during a run: the run stops at its next safe point and starts again. */
  interrupt(key: string): void {
    this.#running.get(key)?.abort();
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (let key = await this.queue.take(); key !== undefined; key = await this.queue.take()) {
      const stop = new AbortController();
      setMaxListeners(0, stop.signal);
      this.#running.set(key, stop);
      const follow = () => stop.abort();
      signal.addEventListener("abort", follow, { once: true });
      try {
        const outcome = await this.#options.reconcile(key, stop.signal);
        this.queue.forget(key);
        if (outcome !== undefined) this.queue.addAfter(key, outcome.after);
      } catch (error) {
        this.#failed(key, TalosError.from(error), stop.signal.aborted);
      } finally {
        signal.removeEventListener("abort", follow);
        this.#running.delete(key);
        this.queue.done(key);
      }
    }
  }

  #failed(key: string, error: TalosError, interrupted: boolean): void {
    if (interrupted) this.queue.add(key);
    else this.#options.failed(key, error, this.queue.retry(key));
  }
}
