// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pictures } from "../../../scripts/pictures.ts";

test.each([...pictures()])("%s is what `npm run generate:pictures` draws", (file, drawn) => {
  expect(readFileSync(file, "utf8")).toBe(drawn);
});
