// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Decimal, numberFromDouble, numberText, parseNumber } from "../../../provider/framework/index.ts";

describe("numbers of Terraform", () => {
  test.each([
    ["0", 0],
    ["-0", 0],
    ["12", 12],
    ["+12", 12],
    ["1.50e2", 150],
    ["9007199254740993", 9007199254740993n],
    ["1e30", 10n ** 30n],
    ["-1e30", -(10n ** 30n)],
    ["0.10", new Decimal("0.1")],
    ["-12.50", new Decimal("-12.5")],
    ["5e-1", new Decimal("0.5")],
    ["1e-999999", new Decimal("1e-999999")],
    ["1e999999", new Decimal("1e999999")],
  ])("%s has one form", (text, value) => {
    expect(parseNumber(text)).toEqual(value);
  });

  test.each(["", ".", "e5", "1e", "0x10", "NaN", "Infinity", "1 ", "--1"])("%j is not a number", (text) => {
    expect(() => parseNumber(text)).toThrow("not a number");
  });

  test("text and value are the same thing for every integer", () => {
    fc.assert(fc.property(fc.bigInt(), (value) => numberText(parseNumber(String(value))) === String(value)));
  });

  test("a double keeps its exact value, not its shortest text", () => {
    expect(numberFromDouble(0.5)).toEqual(new Decimal("0.5"));
    expect(String(numberFromDouble(0.1))).toBe("0.1000000000000000055511151231257827021181583404541015625");
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Number(String(numberFromDouble(value)))).toBe(value === 0 ? 0 : value);
      }),
    );
  });

  test("a fraction written in code means its shortest text", () => {
    expect(numberText(0.1)).toBe("0.1");
    expect(numberText(1e21)).toBe("1000000000000000000000");
  });
});
