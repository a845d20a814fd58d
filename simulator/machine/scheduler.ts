// SPDX-License-Identifier: Apache-2.0

/** Time as the simulator lives it: what it is now, and a call when it is later. */
export interface Scheduler {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once, at or after `time`. Returns how to call it off. */
  at(time: number, callback: () => void): () => void;
}

/** Wall-clock time. A timer never keeps the process alive by itself. */
export const wallScheduler: Scheduler = {
  now: () => Date.now(),
  at(time, callback) {
    // Node fires at once for delays beyond 2^31 ms, so far ones are cut into pieces by the caller's next look.
    const timer = setTimeout(callback, Math.min(Math.max(0, time - Date.now()), 86_400_000));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

export interface VirtualScheduler extends Scheduler {
  /** Lets time pass: everything due happens in order, each thing at its own time. */
  advance(milliseconds: number): Promise<void>;
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Time that passes only when told to: an hour takes as long as what happens in it. */
export function virtualScheduler(start: number): VirtualScheduler {
  let now = start;
  let order = 0;
  const pending = new Map<number, { readonly time: number; readonly callback: () => void }>();
  const nextDue = (limit: number): number | undefined => {
    let best: number | undefined;
    for (const [id, { time }] of pending) {
      if (time <= limit && (best === undefined || time < (pending.get(best)?.time ?? 0))) best = id;
    }
    return best;
  };
  return {
    now: () => now,
    at(time, callback) {
      const id = order;
      order += 1;
      pending.set(id, { time, callback });
      return () => pending.delete(id);
    },
    async advance(milliseconds) {
      const limit = now + milliseconds;
      // What was started a moment ago gets to its first wait, and what waited last to its end.
      await settle();
      for (let id = nextDue(limit); id !== undefined; id = nextDue(limit)) {
        const entry = pending.get(id);
        pending.delete(id);
        now = Math.max(now, entry?.time ?? now);
        entry?.callback();
        // Lets whoever waited for this moment act before the next one comes.
        await settle();
      }
      now = limit;
    },
  };
}
