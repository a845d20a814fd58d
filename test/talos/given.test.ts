// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { given, isGiven } from "../../talos/given.ts";

describe("given", () => {
  test("leaves out undefined only, and keeps the order of the others", () => {
    const fields = given({ z: undefined, b: 0, a: "", d: null, c: false, e: [] });
    expect(Object.entries(fields)).toEqual([
      ["b", 0],
      ["a", ""],
      ["d", null],
      ["c", false],
      ["e", []],
    ]);
  });

  test("lets the default stand when it is spread over it", () => {
    const wanted: { size?: number | undefined } = { size: undefined };
    expect({ size: 3, ...given(wanted) }).toEqual({ size: 3 });
  });

  test("filters lists", () => {
    expect([undefined, "", 0, null].filter(isGiven)).toEqual(["", 0, null]);
  });
});
