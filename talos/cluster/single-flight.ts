// SPDX-License-Identifier: Apache-2.0

/**
 * Lets many callers share one slow question. Nobody gets an answer from before they asked: who comes while one is on
 * its way shares the next.
 */
export function singleFlight<T>(ask: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const start = (): Promise<T> => {
    const started = ask().finally(() => {
      if (running === started) running = undefined;
    });
    running = started;
    return started;
  };
  return () => {
    if (running === undefined) return start();
    if (next === undefined) {
      const current = running;
      const queued = current
        .then(
          () => undefined,
          () => undefined,
        )
        .then(() => {
          if (next === queued) next = undefined;
          return start();
        });
      next = queued;
    }
    return next;
  };
}
