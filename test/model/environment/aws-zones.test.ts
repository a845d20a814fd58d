// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { zoneNames, zoneNumber, zoneOrder } from "../../../model/index.ts";

const region = "eu-central-1";
const letters = [..."abcdefg"].map((letter) => `${region}${letter}`);
const someZones = fc.uniqueArray(fc.constantFrom(...letters), { minLength: 1, maxLength: 6 });
const poolName = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
/** The zones of the first machines of a pool. */
const spread = (pool: string, zones: readonly string[], count: number) => {
  const order = zoneOrder(pool, zones);
  return Array.from({ length: count }, (_, index) => order[index % order.length] ?? "");
};

describe("zones by number", () => {
  test.each([
    ["eu-central-1", 3, "abc"],
    ["eu-central-1", 1, "a"],
    ["ap-northeast-1", 3, "acd"],
    ["ca-central-1", 3, "abd"],
    ["us-east-1", 6, "abcdef"],
  ])("of %s: %i are %s", (of, zones, expected) => {
    expect(zoneNames({ region: of, zones })).toEqual([...expected].map((letter) => `${of}${letter}`));
  });

  test("begin with those that fewer begin with", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), (zones) => {
        const [fewer, more] = [zones, zones + 1].map((count) => zoneNames({ region, zones: count }));
        expect(more?.slice(0, zones)).toEqual(fewer);
      }),
    );
  });
});

describe("the number of a zone, which its subnets have", () => {
  test("is the same whatever other zones there are, and no other zone's", () => {
    fc.assert(
      fc.property(someZones, someZones, (before, after) => {
        const number = (zones: readonly string[]) => (zone: string) => zoneNumber({ region, zones }, zone);
        for (const zone of before.filter((one) => after.includes(one)))
          expect(number(after)(zone)).toBe(number(before)(zone));
        expect(new Set(before.map(number(before))).size).toBe(before.length);
        for (const zone of before) expect([1, 2, 3, 4, 5, 6, 7]).toContain(number(before)(zone));
      }),
    );
  });

  test("is that of 0.1.0 for the zones that it found by number", () => {
    for (const of of ["eu-central-1", "ap-northeast-1", "ca-central-1"])
      expect(zoneNames({ region: of }).map((zone) => zoneNumber({ region: of }, zone))).toEqual([1, 2, 3]);
  });
});

describe("new machines of a pool", () => {
  test("are spread evenly", () => {
    fc.assert(
      fc.property(poolName, someZones, fc.integer({ min: 0, max: 40 }), (pool, zones, count) => {
        const used = spread(pool, zones, count);
        const counts = zones.map((zone) => used.filter((one) => one === zone).length);
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      }),
    );
  });

  test("stay where they are when the pool grows", () => {
    fc.assert(
      fc.property(poolName, someZones, fc.nat(20), fc.nat(20), (pool, zones, count, more) => {
        expect(spread(pool, zones, count + more).slice(0, count)).toEqual(spread(pool, zones, count));
      }),
    );
  });

  test("are one in each zone for three control planes", () => {
    expect(spread("cp", letters.slice(0, 3), 3)).toEqual(letters.slice(0, 3));
  });

  test("do not all begin in the same zone", () => {
    const first = ["general", "w", "burst"].map((pool) => zoneOrder(pool, letters.slice(0, 3))[0]);
    expect(new Set(first).size).toBe(3);
  });
});
