// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { fuzz, limits } from "./runner.ts";
import type { Target } from "./target.ts";

/** `npm run fuzz` goes on where this ends: with a million inputs. A file for each target, so that workers share them. */
const inputs = 10_000;

export function withstands(target: Target): void {
  test(`${inputs} inputs are taken or refused in our own words, each at once and in little memory`, async () => {
    const result = await fuzz(target, { inputs, seed: 20261116 });
    expect(result.faults).toEqual([]);
    expect(result.inputs).toBe(inputs);
    expect(result.worstMegabytes).toBeLessThan(limits.megabytes);
    // Where next to nothing gets through, only the first check was tried.
    expect(result.accepted).toBeGreaterThan(inputs / 50);
  }, 900_000);
}
