// SPDX-License-Identifier: Apache-2.0
import type { Validator } from "../framework/index.ts";

/** Refuses a text that is none of these. */
export function oneOf(...words: readonly string[]): Validator<string> {
  return (value, path, diagnostics) => {
    if (words.includes(value)) return;
    diagnostics.error({ summary: "Unknown value", detail: `Found ${value}; expected ${words.join(" or ")}.`, path });
  };
}
