// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";

/** How the engine passes time. Tests give one where an hour takes no time. */
export interface Timing {
  /** The time of day, in milliseconds since 1970. It may be set, forward and back. */
  now(): number;
  /** Milliseconds since some fixed moment, which nobody can set: how long something takes is told by this one. */
  elapsed(): number;
  /** Calls `ring` after so long, unless what it returns is called before. */
  alarm(milliseconds: number, ring: () => void): () => void;
  /** Rejects with code `canceled` as soon as the signal fires. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export const systemTiming: Timing = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  alarm: systemAlarm,
  sleep: (milliseconds, signal) => sleepBy(systemAlarm, milliseconds, signal),
};

/** Node's timers take no more than 24 days, and fire at once where they are given more. */
const longestTimer = 2 ** 31 - 1;

function systemAlarm(milliseconds: number, ring: () => void): () => void {
  let timer: NodeJS.Timeout;
  const waitFor = (left: number) => {
    timer = left > longestTimer ? setTimeout(() => waitFor(left - longestTimer), longestTimer) : setTimeout(ring, left);
  };
  waitFor(milliseconds);
  return () => clearTimeout(timer);
}

/** A sleep by any alarm. */
export function sleepBy(alarm: Timing["alarm"], milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(canceled());
    const canceledSleep = () => {
      stop();
      reject(canceled());
    };
    const stop = alarm(milliseconds, () => {
      signal?.removeEventListener("abort", canceledSleep);
      resolve();
    });
    signal?.addEventListener("abort", canceledSleep, { once: true });
  });
}

export function throwIfCanceled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw canceled();
}

/** The work's answer, unless the signal fires first; the work goes on. */
export function unlessCanceled<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(canceled());
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal?.removeEventListener("abort", stop));
  });
}

/** `doing` says what was under way, and why it waited. */
export function canceled(doing?: string): TalosError {
  return new TalosError(
    "canceled",
    doing === undefined ? "stopped before the work was finished" : `stopped: ${doing}`,
    {
      hint: "Run the same command again: it goes on from where the cluster is.",
    },
  );
}
