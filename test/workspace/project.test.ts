// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { withAbsoluteRoot } from "../../model/project-root.ts";
import { findProjectRoot } from "../../provider/types/provider.ts";
import { projectRoot } from "../../workspace/project.ts";

const work = mkdtempSync(join(tmpdir(), "talosmith-project-"));
const stack = join(work, "project", "cdktf.out", "stacks", "local");
mkdirSync(stack, { recursive: true });
writeFileSync(join(work, "project", "cdktf.json"), "{}");
afterAll(() => rmSync(work, { recursive: true, force: true }));

test.each<[string, string, Record<string, string>]>([
  ["the nearest folder with a cdktf.json", stack, {}],
  ["an absolute TALOSMITH_ROOT", tmpdir(), { TALOSMITH_ROOT: join(work, "project") }],
  ["a relative TALOSMITH_ROOT", work, { TALOSMITH_ROOT: "project" }],
])("%s is the same project for the command and for the provider that it runs in the stack's folder", (_, cwd, env) => {
  expect(projectRoot(cwd, env)).toBe(join(work, "project"));
  expect(findProjectRoot(stack, withAbsoluteRoot(env, cwd))).toBe(join(work, "project"));
});

test("without a project the command says how to name one", () => {
  expect(() => projectRoot(work, {})).toThrow(/no talosmith project here/);
});
