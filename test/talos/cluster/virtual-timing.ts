// SPDX-License-Identifier: Apache-2.0

import type { Timing } from "../../../talos/cluster/index.ts";
import { TalosError } from "../../../talos/errors.ts";

const longestNap = 1000;

/** Time that passes only when everybody sleeps: an hour takes a few turns of the event loop. */
export class VirtualTiming implements Timing {
  #now = Date.parse("2026-01-01T00:00:00Z");
  #sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  #pumping = false;

  now(): number {
    return this.#now;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stopped = () => {
        this.#sleepers = this.#sleepers.filter((one) => one !== sleeper);
        reject(new TalosError("canceled", "stopped"));
      };
      const sleeper = {
        at: this.#now + milliseconds,
        wake: () => {
          signal?.removeEventListener("abort", stopped);
          resolve();
        },
      };
      if (signal?.aborted) return stopped();
      signal?.addEventListener("abort", stopped, { once: true });
      this.#sleepers.push(sleeper);
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    const turn = (rested = false) => {
      const next = this.#sleepers.reduce<number | undefined>((least, { at }) => Math.min(least ?? at, at), undefined);
      if (next === undefined) {
        this.#pumping = false;
        return;
      }
      // Nobody sleeps this long but to watch over others; they may be at a real file, which takes real time.
      if (next - this.#now > longestNap && !rested) return void setTimeout(turn, 2, true);
      this.#now = Math.max(this.#now, next);
      const due = this.#sleepers.filter(({ at }) => at <= this.#now);
      this.#sleepers = this.#sleepers.filter(({ at }) => at > this.#now);
      for (const { wake } of due) wake();
      setImmediate(turn);
    };
    setImmediate(turn);
  }
}
