// SPDX-License-Identifier: Apache-2.0
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { createProgram, runProgram } from "../cli/program.ts";
import { registrations } from "../cli/registrations.ts";
import { systemClock } from "../talos/clock.ts";
import { testContext } from "./support/command-context.ts";
import { shellWords } from "./support/command-line.ts";
import { everything } from "./support/everything.ts";
import { codeBlocks } from "./support/markdown.ts";
import { findProgram } from "./support/programs.ts";
import { runCommand } from "./support/run-command.ts";

/** A page whose blocks say of themselves that they can be run on the simulator, and the project in which. */
interface Walk {
  readonly name: string;
  /** An example's folder; a page of the documents begins with nothing. */
  readonly project?: string;
  readonly lines: readonly string[];
}

const helm = process.env.TALOSMITH_HELM ?? findProgram("helm");
const runnable = new Set(["simulator", ...(everything && helm !== undefined ? ["helm"] : [])]);

/** Clients that a reader may have. */
const clients = new Map([
  ["kubectl", findProgram("kubectl")],
  ["talosctl", process.env.TALOSMITH_TALOSCTL ?? findProgram("talosctl")],
]);
for (const [name, path] of clients)
  if (path === undefined) console.warn(`SKIPPED: lines of ${name} in the documents, because it is missing`);

const pages: readonly Omit<Walk, "lines">[] = [
  ...readdirSync("docs").map((name) => ({ name: join("docs", name) })),
  ...readdirSync("examples").map((name) => ({
    name: join("examples", name, "README.md"),
    project: resolve("examples", name),
  })),
];
const walks: readonly Walk[] = pages
  .filter(({ name }) => name.endsWith(".md") && existsSync(name))
  .map((page) => ({
    ...page,
    lines: codeBlocks(readFileSync(page.name, "utf8"))
      .filter(({ language, info }) => language === "sh" && runnable.has(info))
      .flatMap(({ content }) => content.split("\n").filter((line) => line !== "")),
  }))
  .filter(({ lines }) => lines.length > 0)
  // One example stands for all where time is short.
  .filter(({ project }) => everything || project === undefined || project === resolve("examples", "talos-client"));

test("there is a page to walk through", () => {
  expect(walks.map(({ name }) => name)).toContain("docs/getting-started.md");
});

describe.each(walks)("$name, typed as it stands", ({ lines, project }) => {
  test("every command does what it says", { timeout: 180_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "talosmith-walk-"));
    const root = join(folder, "clusters");
    if (project === undefined) mkdirSync(root);
    else cpSync(project, root, { recursive: true });
    // Without terraform on the PATH: the walk is the same, and shorter.
    const env = { PATH: "", HOME: folder, TALOSMITH_HELM: helm };
    const talosmith = async (words: readonly string[]) => {
      const context = testContext({ cwd: root, clock: systemClock, env });
      await runProgram(createProgram(context, registrations), words, context);
      return context.written;
    };
    const run = async (line: string) => {
      const [program = "", ...words] = shellWords(line.replace(/^npx /, ""));
      if (program === "talosmith") return talosmith(words);
      if (clients.has(program)) {
        const path = clients.get(program);
        if (path === undefined) return { exitCode: 0 };
        const { code, ...output } = await runCommand(path, words, { cwd: root, env: { HOME: folder } });
        return { ...output, exitCode: code };
      }
      // A script of an example: in its own place, where its imports lead somewhere.
      const args = words.map((word) =>
        word === "tsx" ? import.meta.resolve("tsx") : word === "main.ts" ? join(project ?? "", word) : word,
      );
      const { code, ...output } = await runCommand(process.execPath, args, { cwd: root });
      return { ...output, exitCode: code };
    };
    try {
      for (const line of lines) expect({ line, ...(await run(line)) }).toMatchObject({ exitCode: 0 });
    } finally {
      await talosmith(["sim", "down", "--all"]);
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
