// SPDX-License-Identifier: Apache-2.0

import type { Timing } from "../../../talos/cluster/index.ts";
import { TalosError } from "../../../talos/errors.ts";

const longestNap = 1000;
/** One for all: every look of the engine sets an alarm and stops it, and a stack for each is a tenth of the work. */
const canceled = new TalosError("canceled", "stopped");

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** Time that passes only when everybody sleeps: an hour takes a few turns of the event loop. */
export class VirtualTiming implements Timing {
  #now = Date.parse("2026-01-01T00:00:00Z");
  readonly #sleepers = new Set<Sleeper>();
  #pumping = false;
  #shift = 0;

  now(): number {
    return this.#now + this.#shift;
  }

  elapsed(): number {
    return this.#now;
  }

  /** Somebody sets the clock: the time of day jumps, and nobody's sleep is longer or shorter for it. */
  setClock(by: number): void {
    this.#shift += by;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stopped = () => {
        this.#sleepers.delete(sleeper);
        reject(canceled);
      };
      const sleeper: Sleeper = {
        at: this.#now + milliseconds,
        wake: () => {
          signal?.removeEventListener("abort", stopped);
          resolve();
        },
      };
      if (signal?.aborted) return stopped();
      signal?.addEventListener("abort", stopped, { once: true });
      this.#sleepers.add(sleeper);
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    const turn = (rested = false) => {
      if (this.#sleepers.size === 0) {
        this.#pumping = false;
        return;
      }
      let next = Number.POSITIVE_INFINITY;
      for (const { at } of this.#sleepers) next = Math.min(next, at);
      // Nobody sleeps this long but to watch over others; they may be at a real file, which takes real time.
      if (next - this.#now > longestNap && !rested) return void setTimeout(turn, 2, true);
      this.#now = Math.max(this.#now, next);
      for (const sleeper of [...this.#sleepers]) {
        if (sleeper.at <= this.#now && this.#sleepers.delete(sleeper)) sleeper.wake();
      }
      setImmediate(turn);
    };
    setImmediate(turn);
  }
}
