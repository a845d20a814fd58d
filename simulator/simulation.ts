// SPDX-License-Identifier: Apache-2.0
import { type Entropy, systemEntropy } from "../talos/clock.ts";
import { nextDeadline, reconcile } from "./controllers/reconcile.ts";
import { type Scheduler, wallScheduler } from "./machine/scheduler.ts";
import { defaultTimings, type Moment, type Timings } from "./machine/timings.ts";
import { emptyWorld, type World } from "./machine/world.ts";
import { SnapshotShelf } from "./operations/snapshot-shelf.ts";

export interface SimulationOptions {
  /** @default nothing: no machine yet */
  readonly world?: World;
  /** @default the wall clock */
  readonly scheduler?: Scheduler;
  readonly timings?: Timings;
  readonly entropy?: Entropy;
  /** Where uploaded snapshots are kept. @default a temporary folder that ends with the simulation */
  readonly snapshots?: string;
}

export type Listener = (next: World, previous: World) => void;

/** Keeps the world, lets time act on it, and tells whoever wants to know. The one place where the world is replaced. */
export class Simulation {
  readonly scheduler: Scheduler;
  readonly timings: Timings;
  readonly snapshots: SnapshotShelf;
  readonly #entropy: Entropy;
  readonly #listeners = new Set<Listener>();
  #world: World;
  #cancelTimer: (() => void) | undefined;
  #closed = false;

  constructor(options: SimulationOptions = {}) {
    this.scheduler = options.scheduler ?? wallScheduler;
    this.timings = options.timings ?? defaultTimings;
    this.#entropy = options.entropy ?? systemEntropy;
    this.#world = options.world ?? emptyWorld;
    this.snapshots = new SnapshotShelf(options.snapshots);
    this.snapshots.sweep(this.#world);
    this.update((world) => world);
  }

  get world(): World {
    return this.#world;
  }

  get moment(): Moment {
    return { now: this.scheduler.now(), timings: this.timings, entropy: this.#entropy };
  }

  /** Changes the world, then lets it settle. `change` may throw: then nothing has happened. */
  update(change: (world: World, moment: Moment) => World): void {
    const { moment } = this;
    const previous = this.#world;
    this.#world = reconcile(change(previous, moment), moment);
    this.#schedule(moment.now);
    if (this.#world === previous) return;
    for (const listener of [...this.#listeners]) listener(this.#world, previous);
  }

  /** Like `update`, for changes that also answer something. */
  act<T extends { readonly world: World }>(change: (world: World, moment: Moment) => T): T {
    let result: T | undefined;
    this.update((world, moment) => {
      result = change(world, moment);
      return result.world;
    });
    if (result === undefined) throw new Error("the change was not made");
    return result;
  }

  /** Calls back after every change. Returns how to end that. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the condition holds, or at once with false when the signal fires first. */
  until(condition: (world: World) => boolean, signal?: AbortSignal): Promise<boolean> {
    if (condition(this.#world)) return Promise.resolve(true);
    return new Promise((resolve) => {
      const finish = (held: boolean): void => {
        unsubscribe();
        signal?.removeEventListener("abort", abort);
        resolve(held);
      };
      const abort = (): void => finish(false);
      const unsubscribe = this.subscribe((world) => {
        if (condition(world)) finish(true);
      });
      if (signal?.aborted) abort();
      else signal?.addEventListener("abort", abort, { once: true });
    });
  }

  /** Resolves after a time of the simulation, early when the signal fires. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        cancel();
        signal?.removeEventListener("abort", finish);
        resolve();
      };
      const cancel = this.scheduler.at(this.scheduler.now() + milliseconds, finish);
      if (signal?.aborted) finish();
      else signal?.addEventListener("abort", finish, { once: true });
    });
  }

  /** Time stops. */
  close(): void {
    this.#closed = true;
    this.#cancelTimer?.();
    this.#listeners.clear();
    this.snapshots.close();
  }

  /** `since` is the moment of the last look: what became due while it was taken must not be missed. */
  #schedule(since: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#closed) return;
    const time = nextDeadline(this.#world, since, this.timings);
    if (time !== undefined) this.#cancelTimer = this.scheduler.at(time, () => this.update((world) => world));
  }
}
