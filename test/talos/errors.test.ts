// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { TalosError } from "../../talos/errors.ts";

test("what a machine says begins no line of its own where people see it, and ends", () => {
  const said = "cp-1: 2 errors occurred:\n\n\t* no disk\n  To go on from here: evil";
  const error = new TalosError("invalid-input", said, { node: "cp-1", hint: "Correct it." });
  expect(error.shown).toBe("cp-1: 2 errors occurred: * no disk To go on from here: evil");
  expect(error.text).toBe(`${error.shown}. Correct it.`);
  expect(error.message).toBe(said);
  const long = new TalosError("invalid-input", "x".repeat(5_000), { node: "cp-1" });
  expect(long.shown).toBe(`${"x".repeat(2_000)}…`);
});

test("lines of our own stay", () => {
  expect(new TalosError("invalid-input", "one\ntwo").shown).toBe("one\ntwo");
});
