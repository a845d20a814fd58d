// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createProgram, runProgram } from "../cli/program.ts";
import { registrations } from "../cli/registrations.ts";
import { systemClock } from "../talos/clock.ts";
import { testContext } from "./support/command-context.ts";
import { shellWords } from "./support/command-line.ts";
import { codeBlocks } from "./support/markdown.ts";

/** Pages with blocks that say of themselves that they can be run on the simulator. */
const walks = readdirSync("docs")
  .filter((name) => name.endsWith(".md"))
  .flatMap((name) => {
    const blocks = codeBlocks(readFileSync(join("docs", name), "utf8"));
    const lines = blocks
      .filter(({ language, info }) => language === "sh" && info === "simulator")
      .flatMap(({ content }) => content.split("\n").filter((line) => line !== ""));
    return lines.length === 0 ? [] : [{ name, lines }];
  });

test("there is a page to walk through", () => {
  expect(walks.map(({ name }) => name)).toContain("getting-started.md");
});

describe.each(walks)("docs/$name, typed as it stands", ({ lines }) => {
  test("every command does what it says", { timeout: 180_000 }, async () => {
    const root = mkdtempSync(join(tmpdir(), "talosmith-walk-"));
    mkdirSync(join(root, "clusters"));
    const talosmith = async (line: string) => {
      // Without terraform on the PATH: the walk is the same, and shorter.
      const context = testContext({ cwd: join(root, "clusters"), clock: systemClock, env: { PATH: "" } });
      const [, ...words] = shellWords(line.replace(/^npx /, ""));
      await runProgram(createProgram(context, registrations), words, context);
      return { line, ...context.written };
    };
    try {
      for (const line of lines) expect(await talosmith(line), line).toMatchObject({ exitCode: 0 });
    } finally {
      await talosmith("talosmith sim down --all");
      rmSync(root, { recursive: true, force: true });
    }
  });
});
