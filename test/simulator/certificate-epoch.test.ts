// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { certificateEpoch } from "../../simulator/network/identities.ts";

const minute = 60_000;
const hour = 60 * minute;
const noon = Date.UTC(2026, 10, 17, 12);
const begun = certificateEpoch(undefined, noon, 1000);

test.each([
  ["a moment later", minute, minute, true],
  ["with a clock that was corrected by seconds", minute + 5000, minute, true],
  ["half a day later", 12 * hour, 12 * hour, false],
  ["after a sleep of an hour, which the other clock does not count", hour, 5, false],
  ["after the clock was set back", -hour, minute, false],
  ["after the clock was set forward by days", 48 * hour, minute, false],
] as const)("certificates are kept %s: %i ms, %i ms: %s", (_, passed, elapsed, kept) => {
  expect(certificateEpoch(begun, noon + passed, 1000 + elapsed) === begun).toBe(kept);
});
