// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ownApp, plainMain } from "../../../workspace/synthesize/index.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "talosmith-app-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const standard = "node --import tsx main.ts";

test.each([
  ["an untouched main.ts", standard, plainMain("talosmith"), undefined],
  ["this repository's main.ts", standard, readFileSync("main.ts", "utf8"), undefined],
  ["no main.ts at all", "npx talosmith synth", undefined, undefined],
  ["a changed main.ts", standard, `${plainMain("talosmith")}// more\n`, standard],
  ["another program", "python3 app.py", plainMain("talosmith"), "python3 app.py"],
  ["a main.ts that is missing", standard, undefined, standard],
])("the app is run for %s only when it may add something", (_, app, main, expected) => {
  writeFileSync(join(root, "cdktf.json"), JSON.stringify({ app }));
  if (main !== undefined) writeFileSync(join(root, "main.ts"), main);
  expect(ownApp(root)).toBe(expected);
});

test("a project without a cdktf.json has no app of its own, and one with a broken one is told so", () => {
  expect(ownApp(root)).toBeUndefined();
  writeFileSync(join(root, "cdktf.json"), "{");
  expect(() => ownApp(root)).toThrow("cdktf.json is not a CDK project file");
});
