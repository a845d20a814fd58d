// SPDX-License-Identifier: Apache-2.0
import type { Timing } from "../../engine/index.ts";
import type { QueueCounts } from "../../watch/index.ts";

export interface QueueLimits {
  /** Milliseconds to the first repetition of what has failed; each further one waits twice as long. */
  readonly first: number;
  readonly longest: number;
  /** How many objects may be begun in a second, over a longer time; failures of many must not overrun the API server. */
  readonly perSecond: number;
  readonly burst: number;
}

const usualLimits: QueueLimits = { first: 2_000, longest: 10 * 60_000, perSecond: 20, burst: 100 };

/**
 * Keys of objects to look at. A key is there once, however often it is added, and is never worked on twice at once: what
 * is added meanwhile comes again afterwards. What fails comes back later, and later each time.
 */
export class WorkQueue {
  readonly #timing: Timing;
  readonly #limits: QueueLimits;
  readonly #waiting: string[] = [];
  readonly #working = new Set<string>();
  readonly #again = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #alarms = new Map<string, { readonly at: number; readonly cancel: () => void }>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  #tokens: number;
  #filledAt: number;
  #refill: (() => void) | undefined;
  #added = 0;
  #retried = 0;
  #closed = false;

  constructor(timing: Timing, limits: QueueLimits = usualLimits) {
    this.#timing = timing;
    this.#limits = limits;
    this.#tokens = limits.burst;
    this.#filledAt = timing.elapsed();
  }

  get facts(): QueueCounts {
    return { depth: this.#waiting.length, working: this.#working.size, added: this.#added, retried: this.#retried };
  }

  /** To be looked at as soon as a worker is free. */
  add(key: string): void {
    if (this.#closed) return;
    this.#alarms.get(key)?.cancel();
    this.#alarms.delete(key);
    if (this.#working.has(key)) {
      this.#again.add(key);
      return;
    }
    if (this.#waiting.includes(key)) return;
    this.#added += 1;
    this.#waiting.push(key);
    this.#serve();
  }

  /** To be looked at after so long, unless it is before. */
  addAfter(key: string, milliseconds: number): void {
    const at = this.#timing.elapsed() + milliseconds;
    const known = this.#alarms.get(key);
    if (this.#closed || (known !== undefined && known.at <= at)) return;
    known?.cancel();
    const cancel = this.#timing.alarm(milliseconds, () => {
      this.#alarms.delete(key);
      this.add(key);
    });
    this.#alarms.set(key, { at, cancel });
  }

  /** It failed: it comes again after twice as long as the last time. Milliseconds until then. */
  retry(key: string): number {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.#retried += 1;
    const delay = Math.min(this.#limits.longest, this.#limits.first * 2 ** Math.min(failures - 1, 20));
    this.addAfter(key, delay);
    return delay;
  }

  /** It went well: the next failure is the first one. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** The next key; undefined when the queue is closed. `done` has to follow. */
  take(): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.#takers.push(resolve);
      this.#serve();
    });
  }

  done(key: string): void {
    this.#working.delete(key);
    if (this.#again.delete(key)) this.add(key);
  }

  close(): void {
    this.#closed = true;
    for (const { cancel } of this.#alarms.values()) cancel();
    this.#refill?.();
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }

  #serve(): void {
    if (this.#closed) {
      for (const taker of this.#takers.splice(0)) taker(undefined);
      return;
    }
    this.#fill();
    while (this.#tokens >= 1) {
      const taker = this.#waiting.length > 0 ? this.#takers.shift() : undefined;
      const key = taker === undefined ? undefined : this.#waiting.shift();
      if (taker === undefined || key === undefined) return;
      this.#tokens -= 1;
      this.#working.add(key);
      taker(key);
    }
    if (this.#waiting.length === 0 || this.#takers.length === 0 || this.#refill !== undefined) return;
    this.#refill = this.#timing.alarm(1_000 / this.#limits.perSecond, () => {
      this.#refill = undefined;
      this.#serve();
    });
  }

  #fill(): void {
    const now = this.#timing.elapsed();
    const gained = ((now - this.#filledAt) / 1_000) * this.#limits.perSecond;
    this.#tokens = Math.min(this.#limits.burst, this.#tokens + gained);
    this.#filledAt = now;
  }
}
