// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import type { Timing } from "../index.ts";

export interface RetryOptions {
  readonly timing: Timing;
  readonly signal?: AbortSignal;
  readonly onRetry?: (reason: string) => void;
}

const pauses = [1_000, 4_000, 15_000];

/** Does the work again after what may pass by itself, with longer and longer pauses; then the last error stands. */
export async function retrying<T>(work: () => Promise<T>, { timing, signal, onRetry }: RetryOptions): Promise<T> {
  for (const pause of pauses) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TalosError) || !error.retryable) throw error;
      onRetry?.(error.message);
      await timing.sleep(pause, signal);
    }
  }
  return work();
}
