// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { createIso, type IsoFile } from "../../cloud-init/iso.ts";
import { readIso } from "../../cloud-init/read-iso.ts";

const sector = 2048;
const bytesOf = (text: string) => new TextEncoder().encode(text);
const file = (name: string, content = ""): IsoFile => ({ name, content: bytesOf(content) });
const files = [
  file("user-data", "machine: {}\n".repeat(400)),
  file("meta-data", 'instance-id: "a"\n'),
  file("network-config"),
];

describe("the layout of an image", () => {
  let image = Buffer.alloc(0);
  beforeEach(() => {
    image = Buffer.from(createIso("cidata", files));
  });
  const at = (number: number, offset: number, length: number) =>
    image.subarray(number * sector + offset, number * sector + offset + length);

  test("is byte by byte that of images which isoinfo, xorriso and blkid have read", () => {
    const odd = createIso("A-b_9", [file("z", "1"), file("abc", "x".repeat(2048)), file("ab", "y".repeat(2049))]);
    const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
    expect([hash(image), hash(odd), hash(createIso("x", []))]).toEqual([
      "3db851ffafc623fe72d2ab56161613de6ebf607b3e453ea83b9290303ae1183b",
      "669e81c7841e46f3ae362fefbaaa66b13b114abb8d570eb93438f97cfa8533c6",
      "68598bed47a16d28825ace743cad035455aea088cd0a0bf78f338acb87c7bfcd",
    ]);
  });

  test("begins with an empty system area and three descriptors", () => {
    expect(image.subarray(0, 16 * sector).every((byte) => byte === 0)).toBe(true);
    for (const [number, type] of [
      [16, 1],
      [17, 2],
      [18, 255],
    ] as const)
      expect(at(number, 0, 7).toString("latin1")).toBe(`${String.fromCharCode(type)}CD001\u0001`);
    expect(at(16, 40, 32).toString("latin1")).toBe("cidata".padEnd(32));
    expect(
      Buffer.from(at(17, 40, 12))
        .swap16()
        .toString("utf16le"),
    ).toBe("cidata");
    expect(at(17, 88, 3).toString("latin1")).toBe("%/E");
  });

  test("says the size of the whole in both byte orders", () => {
    for (const number of [16, 17]) {
      expect(at(number, 80, 8).readUInt32LE(0) * sector).toBe(image.length);
      expect(at(number, 80, 8).readUInt32BE(4) * sector).toBe(image.length);
      expect([at(number, 128, 4).readUInt16LE(0), at(number, 128, 4).readUInt16BE(2)]).toEqual([sector, sector]);
    }
  });

  test("gives each file sectors of its own, and an empty one none", () => {
    const size = (...list: IsoFile[]) => createIso("x", list).length / sector;
    expect(size()).toBe(26);
    expect(size(file("a"))).toBe(26);
    expect(size(file("a", "x"))).toBe(27);
    expect(size(file("a", "x".repeat(2048)))).toBe(27);
    expect(size(file("a", "x".repeat(2049)), file("b", "y"))).toBe(29);
  });
});

describe("an image is refused", () => {
  const label = (text: string) => `found the volume label ${JSON.stringify(text)}, expected 1 to 16 letters`;
  const name = (text: string) => `found the file name ${JSON.stringify(text)}, expected plain, different names`;
  test.each<[string, string, readonly IsoFile[], string]>([
    ["without a label", "", [], label("")],
    ["with too long a label", "a".repeat(17), [], label("a".repeat(17))],
    ["with a label of two words", "a b", [], label("a b")],
    ["with a label that ends oddly", "ab!", [], label("ab!")],
    ["with a file without a name", "x", [file("")], name("")],
    ["with too long a name", "x", [file("a".repeat(29))], name("a".repeat(29))],
    ["with a name in a folder", "x", [file("a/b")], name("a/b")],
    ["with a name that begins oddly", "x", [file(".a")], name(".a")],
    ["with a name that ends oddly", "x", [file("a.")], name("a.")],
    ["with one name twice", "x", [file("a"), file("a")], name("a")],
    ["with names that differ in case only", "x", [file("b"), file("B")], name("b")],
    [
      "with more files than fit",
      "x",
      Array.from({ length: 40 }, (_, index) => file(`f${index}`)),
      "found 40 files, expected as many as fit in one directory sector",
    ],
  ])("%s", (_, volume, list, message) => {
    expect(() => createIso(volume, list)).toThrow(expect.objectContaining({ code: "invalid-input", message }));
  });

  test("in no other case: the longest label and name, and a directory that is just full", () => {
    const long = "n".repeat(28);
    expect([...readIso(createIso("L".repeat(16), [file(long, "text")]), "a.iso")]).toEqual([[long, "text"]]);
    // 176 bytes for the folder itself and its parent, 104 for each file with a name of 13 letters: 2048.
    const full = Array.from({ length: 18 }, (_, index) => file(`file-of-13-${10 + index}`, `${index}`));
    expect(readIso(createIso("x", full), "a.iso").size).toBe(18);
    expect(() => createIso("x", [...full.slice(1), file("file-of-13-and")])).toThrow("one directory sector");
  });
});

/** An image of someone else: descriptors of these types, and a directory of records at sector 20. */
function foreign(types: readonly number[], directory: Buffer, content: string): Buffer {
  const image = Buffer.alloc(24 * sector);
  types.forEach((type, index) => {
    const start = (16 + index) * sector;
    image.writeUInt8(type, start);
    image.write("CD001", start + 1, "latin1");
    image.writeUInt32LE(type === 2 ? 20 : 21, start + 158);
    image.writeUInt32LE(directory.length, start + 166);
  });
  directory.copy(image, 20 * sector);
  image.write(content, 22 * sector);
  return image;
}

function recordOf(name: string, size: number, { folder = false, at = 22, length = 0 } = {}): Buffer {
  const identifier = Buffer.from(name, "utf16le").swap16();
  const record = Buffer.alloc(Math.max(length, 33 + identifier.length + (1 - (identifier.length % 2))));
  record.writeUInt8(record.length);
  record.writeUInt32LE(at, 2);
  record.writeUInt32LE(size, 10);
  record.writeUInt8(folder ? 2 : 0, 25);
  record.writeUInt8(identifier.length, 32);
  identifier.copy(record, 33);
  return record;
}

describe("reading an image", () => {
  const listing = (image: Uint8Array) => Object.fromEntries(readIso(image, "some.iso"));
  const refusal = (reason: string) =>
    expect.objectContaining({
      code: "invalid-input",
      message: "some.iso: not an ISO image with Joliet names",
      cause: expect.objectContaining({ message: expect.stringContaining(reason) }),
    });

  test("gives back what was put in, whatever it says", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom("a", "\0", "\n", "é", "日", "😀") }), { maxLength: 12 }),
        (texts) => {
          const named = texts.map((text, index) => [`file-${index}`, Buffer.from(text).toString()] as const);
          const image = createIso(
            "cidata",
            named.map(([name, text]) => file(name, text)),
          );
          expect(listing(image)).toEqual(Object.fromEntries(named));
        },
      ),
      { seed: 20261116, numRuns: 15 },
    );
  });

  test("finds the names wherever they are, without versions and folders", () => {
    const first = Buffer.concat([
      recordOf("\0", 2048, { folder: true }),
      recordOf("folder", 2048, { folder: true }),
      recordOf("one;1", 3),
      recordOf("a;1b", 1),
    ]);
    // The rest of a sector is empty where the next record does not fit.
    const directory = Buffer.concat([first, Buffer.alloc(sector - first.length), recordOf("two", 5)]);
    const content = { one: "hel", "a;1b": "h", two: "hello" };
    expect(listing(foreign([1, 2, 255], directory, "hello"))).toEqual(content);
    expect(listing(foreign([2], directory, "hello"))).toEqual(content);
    expect(listing(foreign([1, 0, 3, 2], directory, "hello"))).toEqual(content);
    const inside = Buffer.concat([
      Buffer.from("before"),
      foreign([1, 2, 255], directory, "hello"),
      Buffer.from("after"),
    ]);
    expect(listing(inside.subarray(6, -5))).toEqual(content);
  });

  test("ends with the directory, even where it fills its sector", () => {
    const full = Buffer.concat(Array.from({ length: 16 }, (_, index) => recordOf(`file-${index}`, 1, { length: 128 })));
    const image = foreign([2], full, "x");
    recordOf("after", 1).copy(image, 21 * sector);
    expect(Object.keys(listing(image))).toEqual(Array.from({ length: 16 }, (_, index) => `file-${index}`));
  });

  test("takes a file up to the end of the image, and none beyond it", () => {
    const image = foreign([2], recordOf("a", 2 * sector), "x");
    expect(listing(image).a).toHaveLength(2 * sector);
    expect(() => listing(foreign([2], recordOf("a", 2 * sector + 1), "x"))).toThrow(
      refusal("a file ends after the image"),
    );
    expect(() => listing(image.subarray(0, -1))).toThrow(refusal("a file ends after the image"));
  });

  test("takes no more out of an image than there is in it", () => {
    const two = (sectors: number) => {
      const whole = (name: string) => recordOf(name, sectors * sector, { at: 0 });
      return foreign([2], Buffer.concat([whole("a"), whole("b")]), "x");
    };
    expect(Object.keys(listing(two(12)))).toEqual(["a", "b"]);
    expect(() => listing(two(13))).toThrow(refusal("the files are larger than the image"));
  });

  const nothing = "no supplementary volume descriptor";
  test.each<[string, () => Uint8Array, string]>([
    ["nothing", () => new Uint8Array(), nothing],
    ["zeros", () => new Uint8Array(40_000), nothing],
    ["no Joliet names", () => foreign([1, 255], recordOf("a", 1), "x"), nothing],
    ["descriptors that stop before", () => foreign([1, 1, 1], recordOf("a", 1), "x").subarray(0, 18 * sector), nothing],
    ["a cut one", () => createIso("cidata", files).subarray(0, 26 * sector), "a file ends after the image"],
  ])("refuses %s", (_, image, reason) => {
    expect(() => listing(image())).toThrow(refusal(reason));
  });
});
