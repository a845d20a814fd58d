// SPDX-License-Identifier: Apache-2.0
import { DiagnosticError } from "../../framework/index.ts";
import { reasonOf } from "../translate-error.ts";

/** Asks one control plane after the other until one answers. Throws with the reason of each when none does. */
export async function firstAnswer<T>(
  endpoints: readonly string[],
  signal: AbortSignal,
  ask: (address: string) => Promise<T>,
): Promise<T> {
  const reasons: string[] = [];
  for (const address of endpoints) {
    try {
      return await ask(address);
    } catch (error) {
      if (signal.aborted) throw error;
      reasons.push(`${address}: ${reasonOf(error)}`);
    }
  }
  throw new DiagnosticError({ summary: "No control plane answers", detail: reasons.join("\n") });
}
