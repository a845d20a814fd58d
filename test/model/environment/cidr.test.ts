// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Cidr } from "../../../model/environment/cidr.ts";

const net = (text: string) => Cidr.parse(text);

describe("an IPv4 network", () => {
  test.each(["0.0.0.0/0", "10.0.0.0/8", "10.20.0.0/24", "10.20.0.128/25", "255.255.255.255/32", "128.0.0.0/1"])(
    "%s reads and writes the same",
    (text) => {
      expect(Cidr.tryParse(text)?.toString()).toBe(text);
    },
  );

  test.each([
    ["host bits", "10.0.0.1/24"],
    ["a host bit just below the prefix", "10.0.0.128/24"],
    ["no prefix", "10.0.0.0"],
    ["an empty prefix", "10.0.0.0/"],
    ["a prefix too long", "10.0.0.0/33"],
    ["a prefix of three digits", "10.0.0.0/024"],
    ["a prefix that is signed", "10.0.0.0/-1"],
    ["a prefix with more behind it", "10.0.0.0/8x"],
    ["a prefix with more before it", "10.0.0.0/x8"],
    ["two prefixes", "10.0.0.0/8/8"],
    ["three parts", "10.0.0/8"],
    ["a part too large", "10.0.0.256/32"],
    ["hexadecimal", "0x0a.0.0.0/8"],
    ["IPv6", "fd00::/8"],
    ["nothing", ""],
  ])("is not: %s", (_, text) => {
    expect(Cidr.tryParse(text)).toBeUndefined();
    expect(() => Cidr.parse(text)).toThrow(new RangeError(`${JSON.stringify(text)} is no IPv4 network`));
  });

  test.each([
    ["0.0.0.0/0", 2 ** 32],
    ["10.0.0.0/8", 2 ** 24],
    ["10.0.0.0/20", 4096],
    ["10.0.0.0/25", 128],
    ["10.0.0.0/32", 1],
  ])("%s has %i addresses", (text, size) => {
    expect(net(text)).toMatchObject({ size });
  });

  test.each([
    ["10.0.0.0/24", 0, undefined],
    ["10.0.0.0/24", 1, "10.0.0.1"],
    ["10.0.0.0/24", 254, "10.0.0.254"],
    ["10.0.0.0/24", 255, undefined],
    ["10.0.0.0/24", -1, undefined],
    ["10.255.0.0/16", 256, "10.255.1.0"],
    ["10.0.0.0/30", 2, "10.0.0.2"],
    ["10.0.0.0/30", 3, undefined],
    ["10.0.0.0/31", 0, "10.0.0.0"],
    ["10.0.0.0/31", 1, "10.0.0.1"],
    ["10.0.0.0/31", 2, undefined],
    ["10.0.0.7/32", 0, "10.0.0.7"],
    ["255.255.255.0/24", 254, "255.255.255.254"],
  ])("host %2$s of %1$s", (text, offset, address) => {
    expect(net(text).host(offset)).toBe(address);
  });

  test.each([
    ["10.0.1.0/24", "10.0.1.0", 0],
    ["10.0.1.0/24", "10.0.1.255", 255],
    ["10.0.1.0/24", "10.0.0.255", undefined],
    ["10.0.1.0/24", "10.0.2.0", undefined],
    ["0.0.0.0/0", "255.255.255.255", 2 ** 32 - 1],
    ["0.0.0.0/0", "fd00::1", undefined],
    ["10.0.1.0/24", "10.0.1", undefined],
  ])("%s has %s at %s", (text, address, offset) => {
    expect(net(text).offsetOf(address)).toBe(offset);
  });

  test.each([
    ["10.0.0.0/16", 24, 0, "10.0.0.0/24"],
    ["10.0.0.0/16", 24, 255, "10.0.255.0/24"],
    ["10.0.0.0/16", 24, 256, undefined],
    ["10.0.0.0/16", 24, -1, undefined],
    ["10.0.0.0/16", 16, 0, "10.0.0.0/16"],
    ["10.0.0.0/16", 16, 1, undefined],
    ["10.0.0.0/16", 15, 0, undefined],
    ["10.0.0.0/31", 32, 1, "10.0.0.1/32"],
    ["10.0.0.0/31", 33, 0, undefined],
  ])("%s cut to /%i, number %i", (text, prefix, index, subnet) => {
    expect(net(text).subnet(prefix, index)?.toString()).toBe(subnet);
  });

  test("has every host of it at the place where it was asked for", () => {
    fc.assert(
      fc.property(fc.integer({ min: 8, max: 30 }), fc.nat(), fc.nat(), (prefix, start, place) => {
        const whole = net("10.0.0.0/8");
        const cut = whole.subnet(prefix, start % 2 ** (prefix - 8));
        const offset = 1 + (place % ((cut?.size ?? 0) - 2));
        expect(cut?.offsetOf(cut.host(offset) ?? "")).toBe(offset);
        expect(whole.offsetOf(cut?.host(offset) ?? "")).toBeDefined();
      }),
      { seed: 20261116, numRuns: 100 },
    );
  });
});
