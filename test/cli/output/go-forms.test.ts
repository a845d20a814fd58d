// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { goBytes, goDuration } from "../../../cli/output/go-forms.ts";

// What `time.Duration.String` and humanize.Bytes print.
test.each([
  [0, "0s"],
  [1499, "1s"],
  [1500, "2s"],
  [120_000, "2m0s"],
  [3_723_000, "1h2m3s"],
  [90_000_000, "25h0m0s"],
])("%i ms is %s", (milliseconds, text) => expect(goDuration(milliseconds)).toBe(text));

test.each([
  [0, "0 B"],
  [9, "9 B"],
  [10, "10 B"],
  [999, "999 B"],
  [1000, "1.0 kB"],
  [20_480, "20 kB"],
  [4_216_000, "4.2 MB"],
  [10_000_000_000, "10 GB"],
])("%i bytes are %s", (bytes, text) => expect(goBytes(bytes)).toBe(text));
