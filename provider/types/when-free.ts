// SPDX-License-Identifier: Apache-2.0
import { setTimeout as sleep } from "node:timers/promises";
import type { Operation } from "../framework/index.ts";
import type { Client } from "./client.ts";

const pause = 2_000;

/** Runs work on a cluster; while another run has it, waits for its turn until the operation's time is over. */
export async function whenFree<T>({ signal, log }: Operation<Client>, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const taken = error instanceof Error && (error as { code?: unknown }).code === "conflict";
      if (!taken || signal.aborted) throw error;
      log("info", `waiting: ${error.message}`);
      await sleep(pause, undefined, { signal }).catch(() => {
        throw error;
      });
    }
  }
}
