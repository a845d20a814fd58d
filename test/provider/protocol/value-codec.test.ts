// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  boolType,
  Decimal,
  Dynamic,
  dynamicType,
  listOf,
  mapOf,
  numberType,
  objectOf,
  objectValue,
  parseNumber,
  setOf,
  stringType,
  type Type,
  Unknown,
  type Value,
} from "../../../provider/framework/index.ts";
import { decodeValue, encodeValue } from "../../../provider/protocol/value-codec.ts";

interface Sample {
  readonly type: Type;
  readonly value: Value;
}

const numbers = fc.oneof(
  fc.maxSafeInteger(),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map((value) => parseNumber(String(value))),
  fc
    .tuple(fc.maxSafeInteger(), fc.integer({ min: -20, max: 20 }))
    .map(([digits, power]) => parseNumber(`${digits}e${power}`)),
);

const refinements = fc.record(
  {
    isNull: fc.constant(false),
    stringPrefix: fc.string(),
    numberMin: fc.record({ value: numbers, inclusive: fc.boolean() }),
    numberMax: fc.record({ value: numbers, inclusive: fc.boolean() }),
    lengthMin: fc.nat(),
    lengthMax: fc.nat(),
  },
  { requiredKeys: [] },
);

const leaves: fc.Arbitrary<Sample> = fc.oneof(
  fc.string({ unit: "grapheme" }).map((value) => ({ type: stringType, value })),
  fc.boolean().map((value) => ({ type: boolType, value })),
  numbers.map((value) => ({ type: numberType, value })),
  fc.constantFrom(stringType, numberType, boolType, dynamicType).map((type) => ({ type, value: null })),
  fc.constantFrom(stringType, numberType).map((type) => ({ type, value: new Unknown() })),
  refinements.map((refinement) => ({ type: numberType, value: new Unknown(refinement) })),
);

const samples: fc.Arbitrary<Sample> = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaves,
    tie("sample").chain(({ type, value }) =>
      fc.oneof(
        fc.nat(20).map((count) => ({ type: listOf(type), value: Array.from({ length: count }, () => value) })),
        fc.constant({ type: setOf(type), value: [value] }),
        fc
          .uniqueArray(fc.string(), { maxLength: 20 })
          .map((keys) => ({ type: mapOf(type), value: objectValue(keys.map((key) => [key, value] as const)) })),
        fc.constant({ type: dynamicType, value: type.kind === "dynamic" ? value : new Dynamic(type, value) }),
      ),
    ),
    fc.dictionary(fc.string(), tie("sample"), { maxKeys: 18 }).map((fields) => ({
      type: objectOf(Object.fromEntries(Object.entries(fields).map(([name, { type }]) => [name, type]))),
      value: objectValue(Object.entries(fields).map(([name, { value }]) => [name, value] as const)),
    })),
  ),
})).sample;

const seed = 20261116;

describe("the value codec", () => {
  test("gives back every value as it was", () => {
    fc.assert(
      fc.property(samples, ({ type, value }) => {
        expect(decodeValue(type, encodeValue(type, value))).toEqual(value);
      }),
      { seed, numRuns: 500 },
    );
  });

  test.each<[string, Type, string, Value]>([
    ["null", stringType, "c0", null],
    ["an unknown value", stringType, "d40000", new Unknown()],
    ["an unknown value that is not null", stringType, "c7030c8101c2", new Unknown({ isNull: false })],
    ["a string", stringType, "a3616263", "abc"],
    ["a small integer", numberType, "05", 5],
    ["a negative integer", numberType, "e0", -32],
    ["2^64 - 1", numberType, "cfffffffffffffffff", 2n ** 64n - 1n],
    ["a fraction", numberType, "a3302e31", new Decimal("0.1")],
    ["an object, its names in order", objectOf({ b: boolType, a: boolType }), "82a161c3a162c2", { a: true, b: false }],
    ["a dynamic string", dynamicType, "92c40822737472696e6722a161", new Dynamic(stringType, "a")],
  ])("writes %s as Terraform does", (_, type, hex, value) => {
    expect(Buffer.from(encodeValue(type, value)).toString("hex")).toBe(hex);
    expect(decodeValue(type, Buffer.from(hex, "hex"))).toEqual(value);
  });

  test.each([
    ["cb3fe0000000000000", new Decimal("0.5")],
    ["ca3f000000", new Decimal("0.5")],
    ["cd0100", 256],
    ["d1ff00", -256],
    ["d3fffffffffffffffe", -2],
    ["a431653330", 10n ** 30n],
  ])("reads the number %s", (hex, value) => {
    expect(decodeValue(numberType, Buffer.from(hex, "hex"))).toEqual(value);
  });

  test("refuses values that are not of the type, with their place", () => {
    const type = objectOf({ list: listOf(numberType) });
    expect(() => encodeValue(type, { list: [1, "x"] })).toThrow("value.list[1]: expected number");
    expect(() => decodeValue(type, encodeValue(objectOf({ list: stringType }), { list: "x" }))).toThrow(
      "value.list: expected list, found string",
    );
    expect(() => decodeValue(type, encodeValue(objectOf({ other: stringType }), { other: "x" }))).toThrow(
      'has no attribute "other"',
    );
  });

  test("mutated bytes are an error or a value, never a crash or a hang", () => {
    fc.assert(
      fc.property(
        samples,
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }),
        fc.nat(),
        (sample, edits, cut) => {
          const bytes = Buffer.from(encodeValue(sample.type, sample.value));
          for (const [at, byte] of edits) bytes[at % bytes.length] = byte;
          const short = bytes.subarray(0, cut % 3 === 0 ? cut % (bytes.length + 1) : bytes.length);
          try {
            decodeValue(sample.type, short);
          } catch (error) {
            expect(error).toBeInstanceOf(Error);
            expect((error as Error).message).not.toMatch(/undefined|Maximum call stack|Invalid array length/);
          }
        },
      ),
      { seed, numRuns: 2000 },
    );
  });

  test("a map that claims four thousand million entries costs nothing", () => {
    expect(() => decodeValue(mapOf(stringType), Buffer.from("dfffffffff", "hex"))).toThrow("ends too early");
  });
});
