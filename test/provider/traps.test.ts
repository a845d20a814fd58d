// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { traps, trapsSection } from "../support/traps.ts";

const root = join(import.meta.dirname, "..");

test.each(traps.flatMap(({ tests }) => tests))("the test that a trap names is there: %s: %s", (file, title) => {
  expect(readFileSync(join(root, file), "utf8")).toContain(`"${title}"`);
});

test("every trap has a test, or says why not", () => {
  expect(traps).toHaveLength(14);
  expect(traps.filter(({ tests, missing }) => tests.length === 0 && missing === undefined)).toEqual([]);
});

test("the page has the list: run scripts/generate-provider-cells.ts when this fails", () => {
  expect(readFileSync(join(root, "..", "docs", "provider-tests.md"), "utf8")).toContain(trapsSection());
});
