// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { colorsOf } from "../../../cli/output/colors.ts";

test.each([
  { isTerminal: true, env: {}, colored: true },
  { isTerminal: false, env: {}, colored: false },
  { isTerminal: false, env: { CI: "true" }, colored: false },
  { isTerminal: false, env: { FORCE_COLOR: "1" }, colored: true },
  { isTerminal: false, env: { FORCE_COLOR: "0" }, colored: false },
  { isTerminal: true, env: { NO_COLOR: "1" }, colored: false },
  { isTerminal: true, env: { TERM: "dumb" }, colored: false },
])("terminal $isTerminal with $env is colored: $colored", ({ isTerminal, env, colored }) => {
  const { red } = colorsOf({ isTerminal, write: () => {} }, { env });
  expect(red("x") !== "x").toBe(colored);
});
