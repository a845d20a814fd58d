// SPDX-License-Identifier: Apache-2.0
import { sleepBy, type Timing } from "../../engine/index.ts";

const longestNap = 1000;

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

  alarm(milliseconds: number, ring: () => void): () => void {
    const sleeper: Sleeper = { at: this.#now + milliseconds, wake: ring };
    this.#sleepers.add(sleeper);
    this.#pump();
    return () => void this.#sleepers.delete(sleeper);
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return sleepBy((time, ring) => this.alarm(time, ring), milliseconds, signal);
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
