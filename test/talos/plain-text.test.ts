// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { TalosError } from "../../talos/errors.ts";
import { oneLine, parsePlainJson, plainText } from "../../talos/plain-text.ts";

describe("text of a machine", () => {
  test.each([
    ["plain text, with accents and emoji", "naïve 🚀\tand\nlines", "naïve 🚀\tand\nlines"],
    ["a color", "\u001b[31mred\u001b[0m", "red"],
    ["a title and a link", "\u001b]0;owned\u0007a\u001b]8;;http://x\u0007b\u001b]8;;\u0007", "ab"],
    ["an eight-bit escape", "a\u009b31mb", "ab"],
    ["an escape that is none", "a\u001b", "a^["],
    ["a bell, a backspace and a NUL", "a\u0007\b\0b", "a^G^H^@b"],
    ["a return that would write over the line", "failed\rok", "failed^Mok"],
    ["lines as Windows ends them", "a\r\nb", "a\nb"],
    ["text in the other direction", "user\u202egnp.exe", "user<U+202E>gnp.exe"],
    ["isolates and marks", "\u2066a\u2069\u200f\u061c", "<U+2066>a<U+2069><U+200F><U+061C>"],
    ["line separators", "a\u2028b\u2029c\u0085d", "a<U+2028>b<U+2029>c<U+0085>d"],
    ["a deletion", "a\u007f", "a^?"],
  ])("is shown as it is, or visibly: %s", (_name, said, shown) => {
    expect(plainText(said)).toBe(shown);
    expect(plainText(shown)).toBe(shown);
    expect(new TalosError("internal", said, { hint: said })).toMatchObject({ message: shown, hint: shown });
    expect(parsePlainJson(JSON.stringify({ [said]: [said, { deep: said }] }))).toEqual({
      [shown]: [shown, { deep: shown }],
    });
  });

  test("is one line where one is expected", () => {
    expect(oneLine("a\n  ✓ all is well\r\n\u001b[2Kb")).toBe("a ✓ all is well b");
  });

  test("JSON is read as ever, also what looks like an escape in it", () => {
    for (const value of [{ a: "\\u001b", b: "\\\\r", c: null, d: [1, true] }, "text", 5, null]) {
      expect(parsePlainJson(JSON.stringify(value))).toEqual(value);
    }
    expect(parsePlainJson('{"a":"\\u001B[1mx","b":"\\u003c"}')).toEqual({ a: "x", b: "<" });
    expect(() => parsePlainJson("{")).toThrow(SyntaxError);
  });
});
