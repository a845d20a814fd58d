// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { otherOwner } from "../../../engine/index.ts";
import { Diagnostics } from "../../../provider/framework/index.ts";
import {
  heldClaim,
  memoryOf,
  memoryText,
  newClaim,
  removalClaim,
  warnIfOlder,
} from "../../../provider/types/ownership.ts";

const client = (owner?: string) => ({ owner });

describe("what is remembered beside a state", () => {
  test.each([
    ["", {}, ""],
    ["", { owner: "a" }, '{"owner":"a"}'],
    ['{"owner":"a","applies":3}', { owner: "a", applies: 4 }, '{"owner":"a","applies":4}'],
    ['{"owner":"a","applies":3}', { owner: "b", applies: 4 }, '{"owner":"b","applies":4,"formerly":["a"]}'],
    ['{"owner":"b","formerly":["a"]}', { owner: "c" }, '{"owner":"c","formerly":["a","b"]}'],
    ['{"owner":"b","formerly":["a"]}', { owner: "a" }, '{"owner":"a","formerly":["b"]}'],
    // An apply whose number could not be recorded, or a provider block without an owner.
    ['{"owner":"a","applies":3}', { owner: undefined, applies: undefined }, '{"owner":"a","applies":3}'],
  ])("%j with %j is %j", (before, news, expected) => {
    expect(memoryText(before, news)).toBe(expected);
  });

  test("holds nothing but its own", () => {
    expect(memoryOf('{"owner":7,"formerly":"a","applies":"3","more":true}')).toEqual({});
  });
});

describe("a claim", () => {
  test("is made only where the provider block names an owner", () => {
    expect([newClaim(client(), false), heldClaim(client(), '{"owner":"a"}', false)]).toEqual([undefined, undefined]);
    expect(newClaim(client("a"), true)).toEqual({ owner: "a", isNew: true, joins: true, applies: 0 });
  });

  test("of a state whose backend was moved knows its former name", () => {
    const expected = { owner: "b", formerly: ["a"], isNew: false, joins: false, applies: 3 };
    expect(heldClaim(client("b"), '{"owner":"a","applies":3}', false)).toEqual(expected);
    expect(removalClaim(client("b"), '{"owner":"a","applies":3}', false)).toEqual(expected);
  });

  test("of a state that was moved twice is known by each of its names, as after a restore of an old backup", () => {
    const remembered = memoryText('{"owner":"b","formerly":["a"]}', { owner: "c" });
    const held = heldClaim(client("c"), remembered, false);
    expect(held?.formerly).toEqual(["a", "b", "c"]);
    if (held !== undefined) expect(otherOwner({ owner: "a", joined: [], applies: 1 }, held)).toBeUndefined();
  });

  test("stops no destroy of a state from before, or that was imported", () => {
    expect(removalClaim(client("b"), "", false)).toBeUndefined();
    expect(removalClaim(client("b"), '{"applies":3}', false)).toBeUndefined();
  });
});

describe("a state", () => {
  const warnings = (applies: number, remembered: string) => {
    const diagnostics = new Diagnostics();
    const ownership = { owner: "a", joined: [], applies, changed: "2026-11-17T12:00:00.000Z" };
    warnIfOlder(ownership, remembered, diagnostics);
    return diagnostics.list.map(({ severity, summary, detail }) => `${severity}: ${summary}: ${detail}`);
  };

  test.each([
    [4, '{"applies":4}'],
    // After a restore of etcd from a backup.
    [2, '{"applies":4}'],
    [4, ""],
    [4, '{"owner":"a"}'],
  ])("is not older than a cluster with %s applies when it remembers %j", (applies, remembered) => {
    expect(warnings(applies, remembered)).toEqual([]);
  });

  test("that is older is warned about, with when and by whom", () => {
    expect(warnings(5, '{"applies":4}')).toEqual([
      expect.stringMatching(
        /^warning: The state is older than the cluster: .* applied once since .*12:00:00.000Z \(a\)/,
      ),
    ]);
    expect(warnings(7, '{"applies":4}')).toEqual([expect.stringContaining("applied 3 times since")]);
  });
});
