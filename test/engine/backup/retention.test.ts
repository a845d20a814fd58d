// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expired, type Keep } from "../../../engine/backup/index.ts";

const day = 86_400_000;
const now = new Date("2026-11-16T12:00:00Z");
const daysOld = (days: number) => ({ takenAt: new Date(now.getTime() - days * day) });

describe("retention", () => {
  test.each<[string, number[], Keep, number[]]>([
    ["without a rule keeps all", [1, 2, 300], {}, []],
    ["keeps the newest so many", [1, 2, 3, 4], { count: 2 }, [4, 3]],
    ["keeps what is young", [1, 2, 30, 40], { age: 30 * day }, [40, 30]],
    ["keeps what one rule keeps, though the other does not", [1, 2, 40, 50], { count: 3, age: 30 * day }, [50]],
    ["keeps the newest, however old", [40, 50], { age: day }, [50]],
  ])("%s", (_name, ages, keep, gone) => {
    expect(expired(ages.map(daysOld), keep, now)).toEqual(gone.map(daysOld));
  });

  test("never removes the newest, nor more than what is there, and is done after one run", () => {
    const keeps = fc.record(
      { count: fc.integer({ min: 1, max: 9 }), age: fc.integer({ min: 0, max: 50 * day }) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 100 }).map(daysOld), { minLength: 1 }), keeps, (all, keep) => {
        const gone = new Set(expired(all, keep, now));
        const left = all.filter((backup) => !gone.has(backup));
        const newest = Math.max(...all.map(({ takenAt }) => takenAt.getTime()));
        expect(left.some(({ takenAt }) => takenAt.getTime() === newest)).toBe(true);
        expect(expired(left, keep, now)).toEqual([]);
      }),
    );
  });
});
