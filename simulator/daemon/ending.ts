// SPDX-License-Identifier: Apache-2.0

/** A daemon without machines has nothing to wait for, apart from the one that is about to be made. */
const emptyTimeout = 30_000;

/** Decides when the daemon ends: told to, by a signal, idle for long, or without machines. */
export class Ending {
  /** Resolves when it is time. `removeAll`: the last machine is gone, nothing is to be kept. */
  readonly reached: Promise<{ readonly removeAll: boolean }>;
  readonly #isEmpty: () => boolean;
  #lastContact = performance.now();
  #resolve: (end: { readonly removeAll: boolean }) => void = () => undefined;

  constructor(idleTimeout: number, isEmpty: () => boolean) {
    this.#isEmpty = isEmpty;
    this.reached = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const timer = setInterval(() => {
      const idle = performance.now() - this.#lastContact;
      if (isEmpty() && idle > emptyTimeout) this.#resolve({ removeAll: true });
      else if (idle > idleTimeout) this.#resolve({ removeAll: false });
    }, 1_000);
    timer.unref();
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, () => this.now());
  }

  /** Somebody wants something: the daemon is not idle. */
  touch(): void {
    this.#lastContact = performance.now();
  }

  /** Ends and keeps the machines on disk. */
  now(): void {
    this.#resolve({ removeAll: this.#isEmpty() });
  }

  /** Ends if there is no machine. */
  ifEmpty(): void {
    if (this.#isEmpty()) this.now();
  }
}
