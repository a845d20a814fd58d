// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";

/** How the engine passes time. Tests give one where an hour takes no time. */
export interface Timing {
  /** The time of day, in milliseconds since 1970. It may be set, forward and back. */
  now(): number;
  /** Milliseconds since some fixed moment, which nobody can set: how long something takes is told by this one. */
  elapsed(): number;
  /** Rejects with code `canceled` as soon as the signal fires. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export const systemTiming: Timing = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(canceled());
      const stop = () => {
        clearTimeout(timer);
        reject(canceled());
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", stop);
        resolve();
      }, milliseconds);
      signal?.addEventListener("abort", stop, { once: true });
    }),
};

export function throwIfCanceled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw canceled();
}

function canceled(): TalosError {
  return new TalosError("canceled", "stopped before the work was finished", {
    hint: "Run the same command again: it goes on from where the cluster is.",
  });
}
