// SPDX-License-Identifier: Apache-2.0
import type { SSEStreamingApi } from "hono/streaming";

/** Changes come in bursts; a page needs no more than this many pictures a second. */
const shortestPause = 100;

/** Sends the newest state to every page that listens: the whole, never a difference, so that nothing can be missed. */
export class Broadcast {
  readonly #listeners = new Set<SSEStreamingApi>();
  readonly #state: () => unknown;
  #last = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(state: () => unknown) {
    this.#state = state;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** Sends the state now and from now on, until the page goes away. */
  async listen(stream: SSEStreamingApi): Promise<void> {
    this.#listeners.add(stream);
    const gone = new Promise<void>((resolve) => stream.onAbort(resolve));
    await stream.writeSSE({ event: "overview", data: JSON.stringify(this.#state()) });
    await gone;
    this.#listeners.delete(stream);
  }

  /** To be called whenever something may have changed. */
  changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#send();
    }, shortestPause);
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const stream of this.#listeners) stream.abort();
  }

  async #send(): Promise<void> {
    const data = JSON.stringify(this.#state());
    if (data === this.#last) return;
    this.#last = data;
    await Promise.all([...this.#listeners].map((stream) => stream.writeSSE({ event: "overview", data })));
  }
}
