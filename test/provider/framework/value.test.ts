// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { type Type, unknown, type Value, valuesEqual } from "../../../provider/framework/index.ts";

const text: Type = { kind: "string" };
const list: Type = { kind: "list", element: text };
const set: Type = { kind: "set", element: text };
const map: Type = { kind: "map", element: text };
const machine: Type = { kind: "object", attributes: { name: text, tags: set, ways: list } };

describe("two values are equal", () => {
  test.each<[string, Type, Value, Value, boolean]>([
    ["the same map in another order", map, { a: "1", b: "2" }, { b: "2", a: "1" }, true],
    ["a map with one value changed", map, { a: "1", b: "2" }, { a: "1", b: "3" }, false],
    ["a map with one key more", map, { a: "1" }, { a: "1", b: "2" }, false],
    ["a map with another key", map, { a: "1" }, { b: "1" }, false],
    ["a key that is absent and one that is null", map, { a: null }, { b: null }, false],
    ["a key that every object inherits", map, { constructor: "1" }, { a: "1" }, false],
    ["a list in another order", list, ["a", "b"], ["b", "a"], false],
    ["a set in another order", set, ["a", "b"], ["b", "a"], true],
    [
      "an object with a set in another order",
      machine,
      { name: "w", tags: ["a", "b"], ways: [] },
      { name: "w", tags: ["b", "a"], ways: [] },
      true,
    ],
    [
      "an object with a list in another order",
      machine,
      { name: "w", tags: [], ways: ["a", "b"] },
      { name: "w", tags: [], ways: ["b", "a"] },
      false,
    ],
    ["a map and nothing", map, {}, null, false],
    ["a map and what is not known yet", map, {}, unknown, false],
    ["two that are not known yet", map, unknown, unknown, true],
  ])("%s", (_, type, left, right, equal) => {
    expect(valuesEqual(type, left, right)).toBe(equal);
    expect(valuesEqual(type, right, left)).toBe(equal);
  });
});
