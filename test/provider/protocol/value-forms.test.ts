// SPDX-License-Identifier: Apache-2.0
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
  setOf,
  stringType,
  type Type,
  Unknown,
  type Value,
} from "../../../provider/framework/index.ts";
import { decodeValue, encodeValue } from "../../../provider/protocol/value-codec.ts";

const hexOf = (type: Type, value: Value) => Buffer.from(encodeValue(type, value)).toString("hex");
const fromHex = (type: Type, hex: string) => decodeValue(type, Buffer.from(hex, "hex"));
const tuple: Type = { kind: "tuple", elements: [stringType, numberType] };
const text = (length: number) => "x".repeat(length);
const names = (count: number) => Array.from({ length: count }, (_, index) => `k${String(index).padStart(5, "0")}`);
/** As many list types around a type. */
const nested = (depth: number) => {
  let type: Type = boolType;
  for (let level = 0; level < depth; level += 1) type = listOf(type);
  return type;
};

describe("the form of a value on the wire", () => {
  test.each<[bigint | number, string]>([
    [0, "00"],
    [127, "7f"],
    [128, "cf0000000000000080"],
    [-1, "ff"],
    [-32, "e0"],
    [-33, "d3ffffffffffffffdf"],
    [2n ** 64n - 1n, "cfffffffffffffffff"],
    [-(2n ** 63n), "d38000000000000000"],
    [2n ** 64n, "b43138343436373434303733373039353531363136"],
    [-(2n ** 63n) - 1n, "b42d39323233333732303336383534373735383039"],
  ])("of the number %s is the shortest that keeps every digit", (value, hex) => {
    expect(hexOf(numberType, value)).toBe(hex);
    expect(fromHex(numberType, hex)).toEqual(value);
  });

  test.each([
    [0, "a0"],
    [31, "bf"],
    [32, "d920"],
    [255, "d9ff"],
    [256, "da0100"],
    [65_535, "daffff"],
    [65_536, "db00010000"],
  ])("of a string of %i bytes begins with its length", (length, head) => {
    const hex = hexOf(stringType, text(length));
    expect(hex).toBe(`${head}${"78".repeat(length)}`);
    expect(fromHex(stringType, hex)).toBe(text(length));
  });

  test("of a string counts its bytes, not its letters", () => {
    expect(hexOf(stringType, "é".repeat(16))).toBe(`d920${"c3a9".repeat(16)}`);
  });

  test.each([
    [0, "90"],
    [15, "9f"],
    [16, "dc0010"],
    [255, "dc00ff"],
    [65_535, "dcffff"],
    [65_536, "dd00010000"],
  ])("of a list of %i items begins with their number", (length, head) => {
    const list = Array.from({ length }, () => true);
    const hex = hexOf(listOf(boolType), list);
    expect(hex).toBe(`${head}${"c3".repeat(length)}`);
    expect(hexOf(setOf(boolType), list)).toBe(hex);
    expect(fromHex(setOf(boolType), hex)).toEqual(list);
  });

  test.each([
    [0, "80"],
    [15, "8f"],
    [16, "de0010"],
    [65_536, "df00010000"],
  ])("of a map of %i entries begins with their number, and has them in order", (count, head) => {
    const keys = names(count);
    const value = objectValue(keys.toReversed().map((key) => [key, false] as const));
    const hex = hexOf(mapOf(boolType), value);
    expect(hex.slice(0, head.length)).toBe(head);
    expect(hex.slice(head.length)).toBe(keys.map((key) => `a6${Buffer.from(key).toString("hex")}c2`).join(""));
    expect(Object.entries(fromHex(mapOf(boolType), hex) as object)).toEqual(keys.map((key) => [key, false]));
  });

  test.each([
    [100, "c4"],
    [300, "c5"],
    [70_000, "c6"],
  ])("of a value of any type carries the type, be its name %i bytes long", (length, head) => {
    const type = objectOf({ [text(length)]: boolType });
    const value = new Dynamic(type, objectValue([[text(length), true]]));
    const hex = hexOf(dynamicType, value);
    const json = `["object",{"${text(length)}":"bool"}]`;
    const size = json.length.toString(16).padStart({ c4: 2, c5: 4, c6: 8 }[head] ?? 0, "0");
    expect(hex.startsWith(`92${head}${size}${Buffer.from(json).toString("hex")}81`)).toBe(true);
    expect(fromHex(dynamicType, hex)).toEqual(value);
  });

  test.each<[string, Unknown, string]>([
    ["nothing at all", new Unknown(), "d40000"],
    ["nothing", new Unknown({}), "d40c80"],
    ["its first letters", new Unknown({ stringPrefix: "" }), "c7030c8102a0"],
    ["one letter", new Unknown({ stringPrefix: "a" }), "d60c8102a161"],
    ["five letters", new Unknown({ stringPrefix: "abcde" }), "d70c8102a56162636465"],
    ["thirteen letters", new Unknown({ stringPrefix: text(13) }), `d80c8102ad${"78".repeat(13)}`],
    ["251 letters", new Unknown({ stringPrefix: text(251) }), `c7ff0c8102d9fb${"78".repeat(251)}`],
    ["252 letters", new Unknown({ stringPrefix: text(252) }), `c801000c8102d9fc${"78".repeat(252)}`],
    ["65,531 letters", new Unknown({ stringPrefix: text(65_531) }), `c9000100000c8102dafffb${"78".repeat(65_531)}`],
    [
      "bounds",
      new Unknown({
        numberMin: { value: 1, inclusive: true },
        numberMax: { value: new Decimal("1.5"), inclusive: false },
      }),
      "c70c0c8203920 1c3049 2a3312e35c2".replaceAll(" ", ""),
    ],
    ["lengths", new Unknown({ lengthMin: 2, lengthMax: 3 }), "c7050c8205020603"],
    ["that it may be null", new Unknown({ isNull: true }), "c7030c8101c3"],
  ])("of an unknown value tells what is known of it: %s", (_, value, hex) => {
    expect(hexOf(stringType, value)).toBe(hex);
    expect(fromHex(stringType, hex)).toEqual(value);
  });

  test("of an unknown value leaves out what is not known", () => {
    const value = new Unknown({ isNull: false, stringPrefix: undefined } as unknown as { isNull: boolean });
    expect(hexOf(stringType, value)).toBe("c7030c8101c2");
  });

  test("of a tuple has a type for each place", () => {
    expect(hexOf(tuple, ["a", 1])).toBe("92a16101");
    expect(fromHex(tuple, "92a16101")).toEqual(["a", 1]);
    expect(() => fromHex(tuple, "91a161")).toThrow("value: expected tuple, found array");
  });

  test("of an object has null for what is missing, both ways", () => {
    const type = objectOf({ b: boolType, a: stringType });
    expect(hexOf(type, { b: true })).toBe("82a161c0a162c3");
    const read = fromHex(type, "81a161a178");
    expect(Object.entries(read as object)).toEqual([
      ["b", null],
      ["a", "x"],
    ]);
    expect(Object.getPrototypeOf(read)).toBeNull();
  });
});

describe("every form of MessagePack is read, whoever writes it", () => {
  test.each<[string, Type, Value]>([
    ["c0", boolType, null],
    ["c2", boolType, false],
    ["c3", boolType, true],
    ["c40161", stringType, "a"],
    ["c5000161", stringType, "a"],
    ["c60000000161", stringType, "a"],
    ["a161", stringType, "a"],
    ["d90161", stringType, "a"],
    ["da000161", stringType, "a"],
    ["db0000000161", stringType, "a"],
    ["cc80", numberType, 128],
    ["ccff", numberType, 255],
    ["cd0100", numberType, 256],
    ["ce00010000", numberType, 65_536],
    ["ceffffffff", numberType, 2 ** 32 - 1],
    ["cf0000000000000001", numberType, 1],
    ["d080", numberType, -128],
    ["d18000", numberType, -32_768],
    ["d280000000", numberType, -(2 ** 31)],
    ["d3ffffffffffffffff", numberType, -1],
    ["ca3fc00000", numberType, new Decimal("1.5")],
    ["cb3ff8000000000000", numberType, new Decimal("1.5")],
    ["a3312e35", numberType, new Decimal("1.5")],
    ["91c3", listOf(boolType), [true]],
    ["dc0001c3", listOf(boolType), [true]],
    ["dd00000001c3", listOf(boolType), [true]],
    ["81a161c3", mapOf(boolType), objectValue([["a", true]])],
    ["de0001a161c3", mapOf(boolType), objectValue([["a", true]])],
    ["df00000001a161c3", mapOf(boolType), objectValue([["a", true]])],
    ["d40000", stringType, new Unknown()],
    ["d5000000", stringType, new Unknown()],
    ["d60000000000", stringType, new Unknown()],
    ["d7000000000000000000", stringType, new Unknown()],
    [`d800${"00".repeat(16)}`, stringType, new Unknown()],
    ["c70000", stringType, new Unknown()],
    ["c8000000", stringType, new Unknown()],
    ["c90000000000", stringType, new Unknown()],
    ["d4ff00", stringType, new Unknown()],
    ["92a622626f6f6c22c3", dynamicType, new Dynamic(boolType, true)],
    ["92c40622626f6f6c22c3", dynamicType, new Dynamic(boolType, true)],
  ])("%s", (hex, type, value) => {
    expect(fromHex(type, hex)).toEqual(value);
    expect(() => fromHex(type, `${hex}c0`)).toThrow(new RangeError("bytes are left after the value"));
    expect(() => fromHex(type, hex.slice(0, -2))).toThrow(new RangeError("MessagePack ends too early"));
  });

  test("also from the middle of a larger piece of memory", () => {
    const bytes = Buffer.from("ffffa161ffff", "hex").subarray(2, 4);
    expect(decodeValue(stringType, bytes)).toBe("a");
  });
});

describe("what is no value of the type is refused in words", () => {
  const found: readonly [string, string][] = [
    ["c3", "bool"],
    ["05", "integer"],
    ["ca3f000000", "float"],
    ["a161", "string"],
    ["c40161", "binary"],
    ["90", "array"],
    ["80", "map"],
  ];
  const wanted: readonly [string, Type, readonly string[]][] = [
    ["value: expected string", stringType, ["string", "binary"]],
    ["value: expected bool", boolType, ["bool"]],
    ["expected a number", numberType, ["integer", "float", "string"]],
    ["value: expected list", listOf(stringType), ["array"]],
    ["value: expected set", setOf(stringType), ["array"]],
    ["value: expected map", mapOf(stringType), ["map"]],
    ["value: expected object", objectOf({}), ["map"]],
    ["value: expected dynamic", dynamicType, []],
  ];
  test.each(
    wanted.flatMap(([words, type, fine]) =>
      found
        .filter(([, kind]) => !fine.includes(kind))
        .map(([hex, kind]) => [`${words}, found ${kind}`, type, hex] as const),
    ),
  )("%s", (message, type, hex) => {
    expect(() => fromHex(type, hex)).toThrow(new TypeError(message));
  });

  test.each<[string, Type, string, string]>([
    ["a code that MessagePack lacks", stringType, "c1", "MessagePack has no code 0xc1"],
    ["a name that is no string", mapOf(stringType), "8101a161", "value: expected a name, found integer"],
    ["an attribute of another type", objectOf({ a: boolType }), "81a162c3", 'value: has no attribute "b"'],
    ["an item deep inside", mapOf(listOf(boolType)), "81a16192c3a0", "value.a[1]: expected bool, found string"],
    ["one of three for any type", dynamicType, "93c40622626f6f6c22c3c3", "value: expected dynamic, found array"],
    ["a map for any type", dynamicType, "82c40622626f6f6c22c3", "value: expected dynamic, found map"],
    ["a type that is a number", dynamicType, "9201c3", "value: expected dynamic, found array"],
    ["a value unlike its own type", dynamicType, "92c40622626f6f6c22a0", "value: expected bool, found string"],
    ["a refinement that is no map", stringType, "d40c01", "expected a refinement"],
    ["a refinement with a name", stringType, "c7040c81a161c3", "expected a refinement"],
    ["a refinement whose number is a text", stringType, "c7040c81a131c3", "expected a refinement"],
    ["null or not as a text", stringType, "c7030c8101a0", "expected a refinement"],
    ["a bound that is a map", stringType, "c7050c81038201c3", "expected a refinement"],
    ["a refinement nobody knows", stringType, "c7030c8107c3", "expected a refinement"],
    ["null or not as a number", stringType, "c7030c810101", "expected a refinement"],
    ["a prefix that is a number", stringType, "c7030c810201", "expected a refinement"],
    ["a bound that is a number", stringType, "c7030c810301", "expected a refinement"],
    ["an upper bound that is a number", stringType, "c7030c810401", "expected a refinement"],
    ["a length that is a bool", stringType, "c7030c8105c3", "expected a refinement"],
    ["a length that is too much of a bool", stringType, "c7030c8106c3", "expected a refinement"],
    ["a bound of three", stringType, "c7060c81039301c3c3", "expected a refinement"],
    ["a bound that may be anything", stringType, "c7050c8103920101", "expected a refinement"],
    ["bounds of something else", stringType, "c7050c81019201c3", "expected a refinement"],
    ["a list that claims more than there is", listOf(boolType), "92c3", "MessagePack ends too early"],
    ["a map that claims more than there is", mapOf(boolType), "82a161c3", "MessagePack ends too early"],
  ])("%s", (_, type, hex, message) => {
    expect(() => fromHex(type, hex)).toThrow(expect.objectContaining({ message }));
  });

  test.each<[Type, Value]>([
    [stringType, 1],
    [stringType, true],
    [boolType, "true"],
    [numberType, "1"],
    [listOf(stringType), "a"],
    [setOf(stringType), {}],
    [tuple, {}],
    [mapOf(stringType), []],
    [objectOf({}), []],
    [dynamicType, "a"],
    [stringType, new Dynamic(stringType, "a")],
    [stringType, ["a"]],
    [boolType, {}],
  ])("a %j cannot be written for %j", (type, value) => {
    expect(() => encodeValue(type, value)).toThrow(new TypeError(`value: expected ${type.kind}`));
  });

  test("with the way to it", () => {
    const type = objectOf({ one: mapOf(tuple) });
    expect(() => encodeValue(type, { one: { two: ["a", "b"] } })).toThrow("value.one.two[1]: expected number");
    expect(() => encodeValue(dynamicType, new Dynamic(listOf(boolType), [1]))).toThrow("value[0]: expected bool");
  });

  test("500 levels are enough for anyone, and more are no crash", () => {
    const deep = (levels: number) => fromHex(nested(levels), `${"91".repeat(levels)}c3`);
    expect(JSON.stringify(deep(500))).toBe(`${"[".repeat(500)}true${"]".repeat(500)}`);
    expect(() => deep(501)).toThrow(new RangeError("value is nested too deep"));
    const maps = (levels: number): Type => (levels === 0 ? boolType : mapOf(maps(levels - 1)));
    expect(() => fromHex(maps(501), `${"81a161".repeat(501)}c3`)).toThrow("value is nested too deep");
    const any = "92c4092264796e616d696322";
    expect(() => fromHex(dynamicType, `${any.repeat(501)}c0`)).toThrow("value is nested too deep");
  });
});

test("a value larger than any buffer at hand comes through whole", () => {
  const type = listOf(stringType);
  const list = [text(1000), text(21), text(2), text(1021), text(5000), text(3), text(100_000), "end"];
  expect(decodeValue(type, encodeValue(type, list))).toEqual(list);
  const many = Array.from({ length: 3000 }, (_, index) => index * 1000);
  expect(decodeValue(listOf(numberType), encodeValue(listOf(numberType), many))).toEqual(many);
});
