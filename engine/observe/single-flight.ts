// SPDX-License-Identifier: Apache-2.0

/**
 * Lets many callers share one slow question. Nobody gets an answer from before they asked: callers that come while one
 * is on its way share the next.
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
    // Between the end of one and the start of the next, `running` is empty while callers wait already.
    if (next !== undefined) return next;
    if (running === undefined) return start();
    const settled = running.then(
      () => undefined,
      () => undefined,
    );
    next = settled.then(() => {
      next = undefined;
      return start();
    });
    return next;
  };
}
