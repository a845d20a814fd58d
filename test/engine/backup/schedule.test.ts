// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { runSchedule, type Schedule } from "../../../engine/backup/index.ts";
import { systemTiming } from "../../../engine/index.ts";
import { nextRun } from "../../../model/cron.ts";

describe("the next run", () => {
  test.each<[string, Schedule, string, string | undefined]>([
    ["is in UTC by default", { cron: "0 3 * * *" }, "2026-11-16T12:00:00Z", "2026-11-17T03:00:00.000Z"],
    [
      "is in its time zone",
      { cron: "0 3 * * *", timeZone: "Europe/Berlin" },
      "2026-11-16T12:00:00Z",
      "2026-11-17T02:00:00.000Z",
    ],
    [
      "follows daylight saving time",
      { cron: "0 3 * * *", timeZone: "Europe/Berlin" },
      "2026-07-16T12:00:00Z",
      "2026-07-17T01:00:00.000Z",
    ],
    ["never comes on the 30th of February", { cron: "0 3 30 2 *" }, "2026-11-16T12:00:00Z", undefined],
  ])("%s", (_name, schedule, after, next) => {
    expect(nextRun(schedule, new Date(after))?.toISOString()).toBe(next);
  });
});

/** An hour takes no time; `during` happens while the schedule sleeps. */
function clockwork(start: string) {
  let now = Date.parse(start);
  const timing = {
    ...systemTiming,
    now: () => now,
    elapsed: () => now,
    sleep: async (milliseconds: number) => {
      now += milliseconds;
    },
  };
  const pass = (milliseconds: number) => {
    now += milliseconds;
  };
  return { timing, clock: { now: () => new Date(now) }, pass };
}

describe("a schedule that runs", () => {
  test.each<[string, number, string[]]>([
    ["forward by a year, past its time", 365 * 24, ["2027-11-16 12:10", "2027-11-16 13:00"]],
    ["back by a year, for it was wrong before", -365 * 24, ["2025-11-16 13:00", "2025-11-16 14:00"]],
  ])("goes by a clock that is set %s", async (_name, hours, expected) => {
    const { timing, clock, pass } = clockwork("2026-11-16T12:10:00Z");
    const stop = new AbortController();
    const runs: string[] = [];
    let looks = 0;
    await runSchedule({
      schedule: () => {
        if (looks++ === 3) pass(hours * 3_600_000);
        return { cron: "0 * * * *" };
      },
      run: async () => {
        runs.push(clock.now().toISOString().slice(0, 16).replace("T", " "));
        if (runs.length === 2) stop.abort();
      },
      onFailure: (error) => expect.fail(error.message),
      clock,
      timing,
      entropy: (count) => new Uint8Array(count),
      signal: stop.signal,
    });
    expect(runs).toEqual(expected);
  });

  test("runs at its times, leaves out those that pass during a run, and goes on after a failure", async () => {
    const { timing, clock, pass } = clockwork("2026-11-16T12:10:00Z");
    const stop = new AbortController();
    const runs: string[] = [];
    const failures: string[] = [];
    await runSchedule({
      schedule: () => ({ cron: "0 * * * *" }),
      run: async () => {
        runs.push(clock.now().toISOString().slice(11, 16));
        if (runs.length === 2) pass(2.5 * 3_600_000);
        if (runs.length === 3) throw new Error("no such bucket");
        if (runs.length === 4) stop.abort();
      },
      onFailure: ({ message }) => failures.push(message),
      clock,
      timing,
      entropy: (count) => new Uint8Array(count),
      signal: stop.signal,
    });
    expect(runs).toEqual(["13:00", "14:00", "17:00", "18:00"]);
    expect(failures).toEqual(["no such bucket"]);
  });

  test("takes up another schedule without a restart, and begins later by the jitter", async () => {
    const { timing, clock } = clockwork("2026-11-16T12:10:00Z");
    const stop = new AbortController();
    const runs: string[] = [];
    const schedule = (): Schedule =>
      clock.now() < new Date("2026-11-16T12:30:00Z") ? { cron: "0 3 * * *" } : { cron: "0 13 * * *", jitter: 600_000 };
    await runSchedule({
      schedule,
      run: async () => {
        runs.push(clock.now().toISOString().slice(11, 16));
        stop.abort();
      },
      onFailure: ({ message }) => runs.push(message),
      clock,
      timing,
      entropy: (count) => new Uint8Array(count).fill(0x80),
      signal: stop.signal,
    });
    expect(runs).toEqual(["13:05"]);
  });
});
