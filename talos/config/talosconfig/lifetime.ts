// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../errors.ts";
import { parseGoDuration } from "../document/go-duration.ts";

/** In milliseconds: one year, as talosctl has it. */
export const defaultLifetime = 8760 * 3_600_000;

/** Reads a lifetime such as `8760h` or `30m` into milliseconds. Throws when it is no duration or not positive. */
export function parseLifetime(text: string): number {
  const nanoseconds = parseGoDuration(text);
  if (nanoseconds === undefined || nanoseconds <= 0n) {
    throw new TalosError("invalid-input", `found ${JSON.stringify(text)}, expected a positive duration`, {
      hint: 'Write it with units, such as "8760h" or "30m".',
    });
  }
  return Number(nanoseconds / 1_000_000n);
}
