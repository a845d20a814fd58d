// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { withNames } from "../../engine/health/health.ts";

const machines = [
  { name: "w-1", address: "10.0.0.5" },
  { name: "w-2", address: "10.0.0.50:50001" },
  { name: "w-3", address: "fd00::7" },
  { name: "w-4", address: "w-4" },
];

test.each([
  ["10.0.0.5: refused", "w-1 (10.0.0.5): refused"],
  ["10.0.0.50: refused; 10.0.0.5: away", "w-2 (10.0.0.50): refused; w-1 (10.0.0.5): away"],
  ["fd00::7: refused", "w-3 (fd00::7): refused"],
  // Others, and what is no machine but a place on one.
  ["110.0.0.5, 10.0.0.51", "110.0.0.5, 10.0.0.51"],
  ["https://10.0.0.5:6443: refused", "https://10.0.0.5:6443: refused"],
  ["w-1: not signed; w-4: away", "w-1: not signed; w-4: away"],
])("%s is told with names", (text, expected) => expect(withNames(text, machines)).toBe(expected));
