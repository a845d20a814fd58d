// SPDX-License-Identifier: Apache-2.0
import type { Timing } from "../engine/index.ts";
import type { Environment } from "../model/index.ts";
import { TalosError } from "../talos/errors.ts";
import { type Conditions, type Transition, transitionsBetween, withTransitions } from "./conditions.ts";
import { retryDelay } from "./decide.ts";
import { findingsOf } from "./findings.ts";
import type { ClusterObservation } from "./observe-cluster.ts";

/** What a watcher observes. */
export interface ObservedProject<T extends ClusterObservation = ClusterObservation> {
  /** Throws with all errors when the file has any. The same object as before while no file that it is made of has changed. */
  load(name: string): Environment;
  /** Throws where there is nothing to observe: `not-found` for an environment that is not deployed. */
  observe(environment: Environment, signal: AbortSignal): Promise<T>;
  /** The conditions that were last written, by any process; undefined when there are none. */
  readConditions(name: string): Promise<Conditions | undefined>;
  writeConditions(name: string, conditions: Conditions): Promise<void>;
}

/** One observation of a cluster and what follows from it. */
export interface Observed<T extends ClusterObservation = ClusterObservation> {
  readonly environment: Environment;
  readonly observation: T;
  readonly at: Date;
  readonly conditions: Conditions;
  /** What has another status than at the observation before. */
  readonly transitions: readonly Transition[];
}

export interface WatchListener<T extends ClusterObservation = ClusterObservation> {
  /** The file has other content than at the last observation. */
  fileChanged?(): void;
  /** The pause to the next observation begins when this has ended; an error of it is a failed observation. */
  observed(observed: Observed<T>, signal: AbortSignal): Promise<void>;
  /** The cluster could not be observed; without an environment, its file could not be read. Does not throw. */
  failed(error: TalosError, environment: Environment | undefined, signal: AbortSignal): Promise<void>;
}

interface WatcherOptions<T extends ClusterObservation = ClusterObservation> {
  readonly project: ObservedProject<T>;
  readonly timing: Timing;
  readonly listener: WatchListener<T>;
  /** Milliseconds to the next observation, after so many in a row that have failed. */
  readonly pause: (environment: Environment | undefined, failures: number) => number;
}

/** What a file says, or why it cannot be read. */
interface FileContent {
  readonly environment?: Environment;
  readonly error?: unknown;
  /** Another one when the file has changed. */
  readonly mark: unknown;
}

/** How long a changed file may go unseen. */
const readEvery = 5_000;

/** Observes one environment's cluster again and again, and keeps the last observation. */
export class ClusterWatcher<T extends ClusterObservation = ClusterObservation> {
  readonly #name: string;
  readonly #options: WatcherOptions<T>;
  #last: Observed<T> | undefined;
  #failures = 0;
  #wake = new AbortController();

  constructor(name: string, options: WatcherOptions<T>) {
    this.#name = name;
    this.#options = options;
  }

  /** Until the signal fires; then it comes to the next safe point of its listener. */
  async run(signal: AbortSignal): Promise<void> {
    let known: unknown;
    while (!signal.aborted) {
      const file = this.read();
      if (known !== undefined && known !== file.mark) {
        // What failed with another file says nothing of this one.
        this.#failures = 0;
        this.#options.listener.fileChanged?.();
      }
      known = file.mark;
      const wake = new AbortController();
      this.#wake = wake;
      const follow = () => wake.abort();
      signal.addEventListener("abort", follow, { once: true });
      await this.turn(signal, file);
      await this.#waitOrChange(file, wake.signal);
      signal.removeEventListener("abort", follow);
    }
  }

  /** One observation, with what the listener does about it. */
  async turn(signal: AbortSignal, { environment, error }: FileContent = this.read()): Promise<void> {
    const { listener } = this.#options;
    try {
      if (environment === undefined) throw error;
      const observed = await this.observe(environment, signal);
      this.#failures = 0;
      await listener.observed(observed, signal);
    } catch (failure) {
      if (signal.aborted) return;
      this.#failures += 1;
      await listener.failed(TalosError.from(failure), environment, signal);
    }
  }

  /** Observes now, without the listener. */
  async observe(environment: Environment, signal: AbortSignal): Promise<Observed<T>> {
    const { project, timing, listener } = this.#options;
    const observation = await project.observe(environment, signal);
    const at = new Date(timing.now());
    const before = this.#last?.conditions ?? (await project.readConditions(this.#name));
    const conditions = withTransitions(findingsOf(observation, at), before, at);
    const transitions = transitionsBetween(before, conditions);
    this.#last = { environment, observation, at, conditions, transitions };
    // The file keeps only times: without it the cluster is watched all the same.
    if (transitions.length > 0)
      await project
        .writeConditions(this.#name, conditions)
        .catch((error) => listener.failed(TalosError.from(error), environment, signal));
    return this.#last;
  }

  /** Something was done to the cluster: observes it without waiting for the end of the pause. */
  refresh(): void {
    this.#wake.abort();
  }

  /** The file as it is now. */
  read(): FileContent {
    try {
      const environment = this.#options.project.load(this.#name);
      return { environment, mark: environment };
    } catch (error) {
      return { error, mark: TalosError.from(error).message };
    }
  }

  async #waitOrChange({ environment, mark }: FileContent, signal: AbortSignal): Promise<void> {
    const { timing, pause } = this.#options;
    const until = timing.elapsed() + pause(environment, this.#failures);
    while (!signal.aborted && timing.elapsed() < until) {
      try {
        await timing.sleep(Math.min(readEvery, until - timing.elapsed()), signal);
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
      if (this.read().mark !== mark) return;
    }
  }
}

interface WatchAllOptions {
  readonly names: () => readonly string[];
  readonly timing: Timing;
  /** Milliseconds that a new file, or one that is gone, may be unseen. */
  readonly listEvery: number;
  readonly signal: AbortSignal;
  /** Watches one environment until the signal fires. Is called again after a failure. */
  readonly watch: (name: string, signal: AbortSignal) => Promise<void>;
  readonly added?: (name: string) => void;
  /** Its file is gone and watching it has ended. */
  readonly removed: (name: string) => void;
  /** Watching has failed and begins again; without a name, the environments cannot be listed. */
  readonly failed: (error: TalosError, name?: string) => void;
}

/**
 * Watches all environments, each independently: a failing environment does not block the others. Returns when the signal
 * has fired and every environment has come to a safe point.
 */
export async function watchAll(options: WatchAllOptions): Promise<void> {
  const { timing, listEvery, signal, added, removed, failed } = options;
  const running = new Map<string, { readonly stop: AbortController; readonly ended: Promise<void> }>();
  /** While they cannot be listed, those that are watched already. */
  const listed = (): ReadonlySet<string> => {
    try {
      return new Set(options.names());
    } catch (error) {
      failed(TalosError.from(error));
      return new Set(running.keys());
    }
  };
  try {
    while (!signal.aborted) {
      const names = listed();
      for (const name of names) {
        if (running.has(name)) continue;
        const stop = new AbortController();
        added?.(name);
        running.set(name, { stop, ended: keepWatching(name, options, stop.signal) });
      }
      for (const [name, { stop, ended }] of running) {
        if (names.has(name) || stop.signal.aborted) continue;
        stop.abort();
        // Not waited for here: it may take minutes to its safe point, and the others go on. Only then may it begin again.
        void ended.then(() => {
          running.delete(name);
          removed(name);
        });
      }
      await timing.sleep(listEvery, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    for (const { stop } of running.values()) stop.abort();
    await Promise.all([...running.values()].map(({ ended }) => ended));
  }
}

/** Watchers report their errors and go on; one that ends unexpectedly is restarted. */
async function keepWatching(
  name: string,
  { watch, failed, timing }: WatchAllOptions,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 1; !signal.aborted; failures++) {
    const stop = new AbortController();
    const follow = () => stop.abort();
    signal.addEventListener("abort", follow, { once: true });
    try {
      await watch(name, stop.signal);
    } catch (error) {
      // What else it does must not go on alone.
      stop.abort();
      if (signal.aborted) return;
      failed(TalosError.from(error), name);
      await timing.sleep(retryDelay(failures), signal).catch(() => undefined);
    } finally {
      signal.removeEventListener("abort", follow);
    }
  }
}
