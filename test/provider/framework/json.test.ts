// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  listOf,
  numberType,
  objectOf,
  parseJson,
  stringType,
  valueFromJson,
} from "../../../provider/framework/index.ts";

describe("JSON of a state", () => {
  test("is read like JSON.parse reads it, where that loses nothing", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const text = JSON.stringify(value, (_, item) => (typeof item === "number" ? Math.trunc(item) % 2 ** 50 : item));
        expect(parseJson(text)).toEqual(JSON.parse(text, (_, item) => (Object.is(item, -0) ? 0 : item)));
        expect(parseJson(JSON.stringify(JSON.parse(text), null, 2))).toEqual(parseJson(text));
      }),
    );
  });

  test("keeps every digit of a number", () => {
    const type = objectOf({ n: numberType });
    expect(valueFromJson(type, parseJson('{"n": 123456789012345678901234567890}'))).toEqual({
      n: 123456789012345678901234567890n,
    });
  });

  test.each(["", "{", "[1,]", '{"a"}', '{"a":1,}', "01", "1.", "tru", '"a', '"\\x"', "[1] 2", "nul", "-"])(
    "%j is refused",
    (text) => {
      expect(() => parseJson(text)).toThrow(SyntaxError);
    },
  );

  test("a nest of a million brackets is refused and not a stack overflow", () => {
    expect(() => parseJson("[".repeat(1_000_000))).toThrow("too deep");
  });

  test("what the schema does not have is dropped, what the state does not have is null", () => {
    const type = objectOf({ name: stringType, tags: listOf(stringType) });
    expect(valueFromJson(type, parseJson('{"name":"a","old":1}'))).toEqual({ name: "a", tags: null });
    expect(() => valueFromJson(type, parseJson('{"name":[1]}'))).toThrow("state.name: expected string");
  });
});
