// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { appCommand, prepareStack } from "../../../workspace/terraform/prepare-stack.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "talosmith-app-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const standard = "node --import tsx main.ts";

test.each([
  ["a main.ts", standard, "", standard],
  ["no main.ts, and talosmith itself as the app", "npx talosmith synth", undefined, undefined],
  ["another program", "python3 app.py", undefined, "python3 app.py"],
  ["a main.ts that is missing", standard, undefined, undefined],
])("with %s", (_, app, main, expected) => {
  writeFileSync(join(root, "cdktf.json"), JSON.stringify({ app }));
  if (main !== undefined) writeFileSync(join(root, "main.ts"), main);
  expect(appCommand(root)).toBe(expected);
});

test("a project without a cdktf.json has no app of its own, and a broken one is an error", () => {
  expect(appCommand(root)).toBeUndefined();
  writeFileSync(join(root, "cdktf.json"), "{");
  expect(() => appCommand(root)).toThrow("cdktf.json is not a CDK project file");
});

test("a main.ts without a program to run it says what is required", async () => {
  writeFileSync(join(root, "cdktf.json"), JSON.stringify({ app: "node-that-is-missing main.ts" }));
  writeFileSync(join(root, "main.ts"), "");
  const { signal } = new AbortController();
  await expect(prepareStack(root, "lab", { env: process.env, signal })).rejects.toMatchObject({
    message: expect.stringContaining("`node-that-is-missing main.ts` of cdktf.json failed"),
    hint: expect.stringContaining("needs Node.js 20.19 or later"),
  });
});

test("a main.ts whose packages are not installed leads to npm install", async () => {
  writeFileSync(join(root, "cdktf.json"), JSON.stringify({ app: "node --import not-installed main.ts" }));
  writeFileSync(join(root, "main.ts"), "");
  const { signal } = new AbortController();
  await expect(prepareStack(root, "lab", { env: process.env, signal })).rejects.toMatchObject({
    message: expect.stringMatching(/failed\n\nCannot find package 'not-installed' imported from \S+\n$/),
    hint: expect.stringContaining("Run npm install in the project"),
  });
});

test("an app that starts talosmith is refused, and does not run again and again", async () => {
  const { signal } = new AbortController();
  const command = `${process.execPath} ${new URL("../../../bin/talosmith.js", import.meta.url).pathname} synth lab`;
  writeFileSync(
    join(root, "cdktf.json"),
    JSON.stringify({ app: `echo run >> runs; [ $(wc -l < runs) -gt 2 ] || ${command}` }),
  );
  mkdirSync(join(root, "environments"), { recursive: true });
  writeFileSync(join(root, "environments/lab.yaml"), "infrastructure: { kind: simulated }\ncontrolPlane: {}\n");
  await expect(prepareStack(root, "lab", { env: process.env, signal })).rejects.toMatchObject({
    message: expect.stringContaining("of cdktf.json starts talosmith, which would run it again"),
  });
  expect(readFileSync(join(root, "runs"), "utf8")).toBe("run\n");
});
