// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../talos/errors.ts";
import { retryDelay } from "./decide.ts";
import { Worker, type WorkerOptions } from "./worker.ts";

export interface OperateOptions extends WorkerOptions {
  /** Stops everything at its next safe point. */
  readonly signal: AbortSignal;
}

/** How long a new file, or one that has gone, may be unseen. */
const lookEvery = 5_000;

/**
 * Watches all environments, each for itself: whatever befalls one of them holds no other up. Returns when the signal has
 * fired and every environment has come to a safe point.
 */
export async function operateAll(options: OperateOptions): Promise<void> {
  const { project, record, log, timing, signal } = options;
  const running = new Map<string, { readonly stop: AbortController; readonly ended: Promise<void> }>();
  let told = "";
  /** While they cannot be listed, those that are watched already. */
  const listed = (): ReadonlySet<string> => {
    try {
      const names = new Set(project.environmentNames());
      told = "";
      return names;
    } catch (error) {
      const message = `the environments cannot be listed: ${TalosError.from(error).message}`;
      if (message !== told) log({ level: "error", event: "fault", message });
      told = message;
      return new Set(running.keys());
    }
  };
  try {
    while (!signal.aborted) {
      const names = listed();
      for (const name of names) {
        if (running.has(name)) continue;
        const stop = new AbortController();
        record.note(name, {});
        log({ level: "info", event: "environment", environment: name, message: "is watched" });
        running.set(name, { stop, ended: keepRunning(name, options, stop.signal) });
      }
      for (const [name, { stop, ended }] of running) {
        if (names.has(name) || stop.signal.aborted) continue;
        stop.abort();
        // Not waited for here: it may take minutes to its safe point, and the others go on. Only then may it begin anew.
        void ended.then(() => {
          running.delete(name);
          record.forget(name);
          const message = "its file is gone: not watched any more";
          log({ level: "info", event: "environment", environment: name, message });
        });
      }
      await timing.sleep(lookEvery, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    for (const { stop } of running.values()) stop.abort();
    await Promise.all([...running.values()].map(({ ended }) => ended));
  }
}

/** A worker tells its faults and goes on by itself; one that falls over all the same is stood up again. */
async function keepRunning(name: string, options: OperateOptions, signal: AbortSignal): Promise<void> {
  for (let failures = 1; !signal.aborted; failures++) {
    const stop = new AbortController();
    const follow = () => stop.abort();
    signal.addEventListener("abort", follow, { once: true });
    try {
      await new Worker(name, options, stop.signal).run();
    } catch (error) {
      // Its other half must not go on alone.
      stop.abort();
      if (signal.aborted) return;
      options.log({ level: "error", event: "fault", environment: name, message: TalosError.from(error).message });
      await options.timing.sleep(retryDelay(failures), signal).catch(() => undefined);
    } finally {
      signal.removeEventListener("abort", follow);
    }
  }
}
