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
export async function sleepBy(alarm: Timing["alarm"], milliseconds: number, signal?: AbortSignal): Promise<void> {
  const sleeper = sleeperBy(alarm, signal);
  try {
    await sleeper.sleep(milliseconds);
  } finally {
    sleeper.close();
  }
}

/** Sleeps one after another, until it is closed. */
export interface Sleeper {
  /** Rejects with code `canceled` as soon as the signal fires. */
  sleep(milliseconds: number): Promise<void>;
  close(): void;
}

/**
 * Listens to the signal once for all sleeps: a thousand machines share it, and to add and remove a listener takes longer
 * the more there are.
 */
export function sleeperBy(alarm: Timing["alarm"], signal: AbortSignal | undefined): Sleeper {
  let cancel = () => {};
  const cancelLast = () => cancel();
  signal?.addEventListener("abort", cancelLast, { once: true });
  return {
    sleep: (milliseconds) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(canceled());
        const stop = alarm(milliseconds, resolve);
        cancel = () => {
          stop();
          reject(canceled());
        };
      }),
    close: () => signal?.removeEventListener("abort", cancelLast),
  };
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

/** Milliseconds. A step that takes longer fails and says what it was waiting for. */
export interface Timeouts {
  /** Machines that do not answer yet. @default 10 minutes */
  readonly reachable: number;
  /** Every step but a drain, for which the policy has a time. @default 15 minutes, which an installation over a slow line needs */
  readonly step: number;
  /** All health checks together at the end. @default 15 minutes */
  readonly health: number;
  /** After this long without an answer a machine that was told to reset counts as wiped. @default 1 minute */
  readonly resetSilence: number;
}

const minute = 60_000;

export const defaultTimeouts: Timeouts = {
  reachable: 10 * minute,
  step: 15 * minute,
  health: 15 * minute,
  resetSilence: minute,
};
