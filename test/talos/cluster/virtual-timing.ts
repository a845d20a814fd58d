// SPDX-License-Identifier: Apache-2.0

import type { Timing } from "../../../talos/cluster/index.ts";
import { TalosError } from "../../../talos/errors.ts";

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
      const stopped = () => reject(new TalosError("canceled", "stopped"));
      if (signal?.aborted) return stopped();
      signal?.addEventListener("abort", stopped, { once: true });
      this.#sleepers.push({
        at: this.#now + milliseconds,
        wake: () => {
          signal?.removeEventListener("abort", stopped);
          resolve();
        },
      });
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    const turn = () => {
      const next = this.#sleepers.reduce<number | undefined>((least, { at }) => Math.min(least ?? at, at), undefined);
      if (next === undefined) {
        this.#pumping = false;
        return;
      }
      this.#now = Math.max(this.#now, next);
      const due = this.#sleepers.filter(({ at }) => at <= this.#now);
      this.#sleepers = this.#sleepers.filter(({ at }) => at > this.#now);
      for (const { wake } of due) wake();
      setImmediate(turn);
    };
    setImmediate(turn);
  }
}
