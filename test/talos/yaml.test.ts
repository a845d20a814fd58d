// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  compactLayout,
  compareKeys,
  nodeAt,
  parseYaml,
  parseYamlDocument,
  resolvePlainScalar,
  stringifyYaml,
  toPlainData,
  YamlFloat,
  type YamlValue,
} from "../../talos/yaml/index.ts";

const data = (text: string): unknown => toPlainData(parseYamlDocument(text, "f.yaml"));

describe("the loader refuses", () => {
  const laughs = ["a: &a [x,x,x,x,x,x,x,x,x]", ..."bcdef"].reduce((text, name, index) => {
    const previous = "abcdef"[index - 1] ?? "a";
    return `${text}\n${name}: &${name} [${Array.from({ length: 9 }, () => `*${previous}`).join(",")}]`;
  });
  test.each([
    [
      "brackets nested deeply enough to abort the process",
      `${"[".repeat(900)}\n${"[".repeat(900)}`,
      "1:102: found more than 100 levels of nesting",
    ],
    ["braces nested deeply", "{a: ".repeat(400), "levels of nesting"],
    [
      "deep block maps",
      Array.from({ length: 200 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n"),
      "levels of nesting",
    ],
    ["dashes nested on one line", `${"- ".repeat(500)}x`, "1:203: found more than 100 levels of nesting"],
    ["more dashes than there is stack to leave them", `${"- ".repeat(20_000)}x\na: b`, "levels of nesting"],
    ["as many question marks", `${"? ".repeat(20_000)}x\na: b`, "levels of nesting"],
    ["as many colons", `${": ".repeat(20_000)}\nx`, "levels of nesting"],
    ["more than a megabyte", `a: ${"x".repeat(1024 * 1024)}`, "expected at most 1048576"],
    ["an alias bomb", laughs, "found more than"],
    ["an alias that contains itself", "a: &a [*a]", "1:8: found an alias (*) without a finished anchor"],
    ["a key twice", "a: 1\nb: 2\na: 3", '3:1: found key "a" again, first defined at line 1'],
    ["a truncated list", "a: [1, 2", "1:9: "],
    ["a truncated string", 'a:\n  b: "x', "2:8: "],
    ["broken indentation", "machine:\n  a: 1\n b: 2", "3:1: "],
    ["a tab as indentation", "a:\n\t- b", "2:1: "],
    ["a key that reaches into prototypes", "__proto__: {a: 1}", '1:1: found key "__proto__"'],
    ["a list as a key", "? [a]\n: b", "1:3: found a list or map as a key"],
    ["a second document where one is expected", "a: 1\n---\nb: 2", "3:1: found a second YAML document"],
  ])("%s", (_, text, message) => {
    expect(() => data(text)).toThrow(expect.objectContaining({ name: "TalosError", code: "invalid-input" }));
    expect(() => data(text)).toThrow(message);
  });
});

test.each([
  ["a password that begins like a block", "a: |hunter2\n x\n", "1:5: Block scalar header includes extra characters"],
  ["a password with a backslash", '"\\Uhunter2"', "1:2: Invalid escape sequence"],
  ["a token where none may be", 'a: ["x"\n] "hunter2 hunter2"', "2:3: Unexpected double-quoted-scalar at node end"],
  ["a bracket too much", "}hunter2", "1:1: Unexpected flow-map-end token in YAML document"],
])("an error about %s does not repeat it", (_, text, message) => {
  expect(() => data(text)).toThrow(new RegExp(`${message}$`));
});

test("20 000 keys are read in a moment", () => {
  const text = Array.from({ length: 20_000 }, (_, index) => `key-${index}: 1`).join("\n");
  const started = process.cpuUsage();
  expect(Object.keys(data(text) as object)).toHaveLength(20_000);
  // Of the processor, in microseconds: others may share it.
  expect(process.cpuUsage(started).user).toBeLessThan(5_000_000);
});

test("anchors and merge keys are resolved, own keys first", () => {
  expect(data("base: &base {a: 1, b: 2}\nuse:\n  <<: *base\n  b: 3\nagain: *base")).toEqual({
    base: { a: 1, b: 2 },
    use: { b: 3, a: 1 },
    again: { a: 1, b: 2 },
  });
});

test("every node knows its place", () => {
  const root = parseYamlDocument("a:\n  - b: 1\n    c: x\n", "f.yaml");
  expect(nodeAt(root, ["a", 0, "c"])).toMatchObject({ line: 3, column: 8, text: "x" });
  expect(nodeAt(root, ["a", 0, "missing", "deeper"])).toBeUndefined();
});

test("several documents come in order, empty ones as nothing", () => {
  expect(parseYaml("a: 1\n---\n# nothing\n---\nb: 2\n", "f.yaml").map(toPlainData)).toEqual([{ a: 1 }, null, { b: 2 }]);
});

test.each([
  ["010", 8],
  ["0o17", 15],
  ["0x1f", 31],
  ["0b11", 3],
  ["1_000", 1000],
  ["+5", 5],
  ["no", "no"],
  ["1:30", "1:30"],
  ["True", true],
  ["~", null],
  ["1.10", new YamlFloat(1.1)],
  ["9007199254740993", 9007199254740993n],
  ["1.2.3", "1.2.3"],
])("the plain scalar %s means %o to Go", (text, value) => {
  expect(resolvePlainScalar(text)).toEqual(value);
});

describe("the writer writes as Go does", () => {
  test.each([
    ["off", '"off"'],
    ["1:30", '"1:30"'],
    ["0x1f", '"0x1f"'],
    ["2020-01-01", '"2020-01-01"'],
    ["", '""'],
    ["<<", '"<<"'],
    ["a: b", "'a: b'"],
    [" lead", "' lead'"],
    ["it's # x", "'it''s # x'"],
    ["a#c", "a#c"],
    [":x", ":x"],
    ["x:", "'x:'"],
    ["tab\there", '"tab\\there"'],
    ["é☃", "é☃"],
    ["\u0001bell", '"\\x01bell"'],
    ["x \ny", '"x \\ny"'],
    ["\n\n", '"\\n\\n"'],
    ["x\ny\n", "|\n    x\n    y"],
    ["x\n y", "|-\n    x\n     y"],
    ["  a\nb", "|4-\n      a\n    b"],
    ["x\n\n", "|+\n    x\n"],
  ])("%j as %s", (text, written) => {
    expect(stringifyYaml({ key: text })).toBe(`key: ${written}\n`);
  });

  test.each([
    [1, "1"],
    [10_000_000_000, "1e+10"],
    [1_234_567.5, "1.2345675e+06"],
    [0.00001, "1e-05"],
    [-0.0001, "-0.0001"],
    [0.5, "0.5"],
  ])("the floating-point number %d as %s", (value, written) => {
    expect(new YamlFloat(value).toString()).toBe(written);
  });

  test("lists in lists and maps in lists with its own indentation", () => {
    const value = { z: [[1, 2], [], [[3]]], m: [{ a: 1, b: { c: [1] } }] };
    expect(stringifyYaml(value)).toBe(
      "z:\n    - - 1\n      - 2\n    - []\n    - - - 3\nm:\n    - a: 1\n      b:\n        c:\n            - 1\n",
    );
    expect(stringifyYaml({ m: value.m }, compactLayout)).toBe("m:\n- a: 1\n  b:\n    c:\n    - 1\n");
  });
});

test("keys are ordered with numbers by their value and letters last", () => {
  expect(["b", "a10", "B", "a2", "a", "1", "-x"].sort(compareKeys)).toEqual(["-x", "1", "B", "a", "a2", "a10", "b"]);
});

const scalars = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom("a", " ", "\n", ":", "#", "-", "'", '"', "0", "1", ".", "~", "\t", "é") }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const trees: fc.Arbitrary<YamlValue> = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    scalars,
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.dictionary(
      fc.string().filter((key) => key !== "__proto__"),
      tie("tree"),
      { maxKeys: 4 },
    ),
  ),
})).tree as fc.Arbitrary<YamlValue>;

test("what is written is read back the same, in both layouts", () => {
  // \r, NEL and the Unicode line breaks are normalized by YAML itself in some places; Talos never writes them plain.
  const exotic = /[\r\u0085\u2028\u2029\ufeff\ud800-\udfff]/;
  fc.assert(
    fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), trees, { maxKeys: 5 }), (value) => {
      fc.pre(!exotic.test(JSON.stringify(value)));
      expect(data(stringifyYaml(value))).toEqual(JSON.parse(JSON.stringify(value)));
      expect(data(stringifyYaml(value, compactLayout))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
    { numRuns: 300 },
  );
});
