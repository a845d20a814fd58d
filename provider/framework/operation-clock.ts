// SPDX-License-Identifier: Apache-2.0

/** The time that an operation has. Time that it spends waiting for others is not counted. */
export interface OperationClock {
  /** Milliseconds; undefined where the operation is not limited. */
  readonly limit: number | undefined;
  /** From here on others are waited for. */
  stop(): void;
  /** From here on the operation has all its time. */
  restart(): void;
}

export const noClock: OperationClock = { limit: undefined, stop: () => undefined, restart: () => undefined };

/** A longer one would end at once: timers count in 31 bits. It is 24 days. */
const longestTimer = 2 ** 31 - 1;

/** A clock that runs, and calls `ring` when the time is over. To be stopped at the end. */
export function startClock(limit: number, ring: () => void): OperationClock {
  let timer: NodeJS.Timeout | undefined;
  const stop = () => clearTimeout(timer);
  const restart = () => {
    stop();
    timer = setTimeout(ring, Math.min(limit, longestTimer));
  };
  restart();
  return { limit, stop, restart };
}
