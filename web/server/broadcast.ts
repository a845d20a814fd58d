// SPDX-License-Identifier: Apache-2.0
import type { SSEStreamingApi } from "hono/streaming";

/** Changes come in bursts; a page needs no more than this many pictures a second. */
const shortestPause = 100;

interface Listener {
  readonly stream: SSEStreamingApi;
  told: string;
  telling: boolean;
}

/**
 * Sends the newest state to every page that listens: the whole, never a difference, so that nothing can be missed. A page
 * that reads slowly gets fewer of them, not a queue of old ones.
 */
export class Broadcast {
  readonly #listeners = new Set<Listener>();
  readonly #state: () => unknown;
  #newest = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(state: () => unknown) {
    this.#state = state;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** Sends the state now and from now on, until the page goes away. */
  async listen(stream: SSEStreamingApi): Promise<void> {
    const listener = { stream, told: "", telling: false };
    this.#listeners.add(listener);
    const gone = new Promise<void>((resolve) => stream.onAbort(resolve));
    this.#newest = JSON.stringify(this.#state());
    void tell(listener, () => this.#newest);
    await gone;
    this.#listeners.delete(listener);
  }

  /** To be called whenever something may have changed. */
  changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#newest = JSON.stringify(this.#state());
      for (const listener of this.#listeners) void tell(listener, () => this.#newest);
    }, shortestPause);
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const { stream } of this.#listeners) stream.abort();
  }
}

async function tell(listener: Listener, newest: () => string): Promise<void> {
  if (listener.telling) return;
  listener.telling = true;
  while (listener.told !== newest() && !listener.stream.aborted) {
    listener.told = newest();
    await listener.stream.writeSSE({ event: "overview", data: listener.told });
  }
  listener.telling = false;
}
