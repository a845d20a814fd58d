// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Window, windowAt } from "../../engine/index.ts";

const hour = 3_600_000;
const nights: Window = { schedule: "0 22 * * *", duration: 4 * hour, timeZone: "UTC" };
const saturdays: Window = { schedule: "0 10 * * 6", duration: hour, timeZone: "Europe/Berlin" };

describe("maintenance windows", () => {
  test.each<[string, readonly Window[], string, string]>([
    ["before it", [nights], "2026-01-01T21:59:59Z", "opens 2026-01-01T22:00:00.000Z"],
    ["at its first moment", [nights], "2026-01-01T22:00:00Z", "until 2026-01-02T02:00:00.000Z"],
    ["across midnight", [nights], "2026-01-02T01:59:59Z", "until 2026-01-02T02:00:00.000Z"],
    ["at its end", [nights], "2026-01-02T02:00:00Z", "opens 2026-01-02T22:00:00.000Z"],
    ["in another time zone", [saturdays], "2026-01-03T09:30:00Z", "until 2026-01-03T10:00:00.000Z"],
    ["in summer time", [saturdays], "2026-07-04T08:30:00Z", "until 2026-07-04T09:00:00.000Z"],
    ["of several, the first to open", [saturdays, nights], "2026-01-03T12:00:00Z", "opens 2026-01-03T22:00:00.000Z"],
    [
      "of several, the last to close",
      [nights, { ...nights, duration: 2 * hour }],
      "2026-01-01T23:00:00Z",
      "until 2026-01-02T02:00:00.000Z",
    ],
    [
      "that opens again before it closes",
      [{ schedule: "0 22,23 * * *", duration: 2 * hour, timeZone: "UTC" }],
      "2026-01-01T22:30:00Z",
      "until 2026-01-02T01:00:00.000Z",
    ],
    ["that never opens", [{ ...nights, schedule: "0 0 30 2 *" }], "2026-01-01T00:00:00Z", "opens never"],
  ])("%s", (_, windows, now, expected) => {
    const state = windowAt(windows, new Date(now));
    expect(state.open ? `until ${state.until.toISOString()}` : `opens ${state.opens?.toISOString() ?? "never"}`).toBe(
      expected,
    );
  });

  test("the moment that a closed one names is one in which it is open, and the one before is not", () => {
    const moments = fc.date({
      min: new Date("2026-01-01T00:00:00Z"),
      max: new Date("2026-12-31T00:00:00Z"),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(moments, (now) => {
        const windows = [nights, saturdays];
        const state = windowAt(windows, now);
        if (state.open) return state.until > now && windowAt(windows, new Date(state.until.getTime() - 1)).open;
        if (state.opens === undefined) return false;
        return (
          state.opens > now &&
          windowAt(windows, state.opens).open &&
          !windowAt(windows, new Date(state.opens.getTime() - 1)).open
        );
      }),
      { numRuns: 60 },
    );
  });
});
