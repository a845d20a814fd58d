// SPDX-License-Identifier: Apache-2.0
import type { Call } from "./method.ts";

/** Yields once now and once after every change of the world, until the caller goes away. Changes in between are joined. */
export async function* everyChange(call: Call): AsyncGenerator<void> {
  let changed = true;
  let wake: (() => void) | undefined;
  const nudge = (): void => {
    changed = true;
    wake?.();
  };
  const unsubscribe = call.simulation.subscribe(nudge);
  call.signal.addEventListener("abort", nudge, { once: true });
  try {
    while (!call.signal.aborted) {
      if (!changed) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      changed = false;
      yield;
    }
  } finally {
    unsubscribe();
    call.signal.removeEventListener("abort", nudge);
  }
}
