// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { documentDiagrams } from "../support/diagrams.ts";
import { findProgram } from "../support/programs.ts";

const executablePath = process.env.CHROMIUM_PATH ?? findProgram("chromium");
// mermaid is the site's dependency, not ours: `npm run docs` installs it, and npm ci stays small.
const mermaid = process.env.TALOSMITH_TEST_MERMAID ?? "site/node_modules/mermaid/dist/mermaid.min.js";
const possible = executablePath !== undefined && existsSync(mermaid);
if (!possible)
  console.warn("SKIPPED: diagrams drawn by mermaid, because chromium or `npm ci --prefix site` is missing");

describe.skipIf(!possible)("mermaid draws", () => {
  let browser: Browser | undefined;
  let drawn: ReadonlyMap<string, string>;

  beforeAll(async () => {
    browser = await chromium.launch({ ...(executablePath && { executablePath }), args: ["--no-sandbox"] });
    const page = await browser.newPage();
    await page.setContent("<!doctype html><body></body>");
    await page.addScriptTag({ content: readFileSync(mermaid, "utf8") });
    const sources = documentDiagrams().map(({ name, source }) => [name, source] as const);
    const results = await page.evaluate(async (diagrams) => {
      const library = (globalThis as unknown as { mermaid: Mermaid }).mermaid;
      library.initialize({ startOnLoad: false });
      const found: [string, string][] = [];
      for (const [index, [name, source]] of diagrams.entries()) {
        try {
          found.push([name, (await library.render(`d${index}`, source)).svg]);
        } catch (error) {
          found.push([name, `error: ${String(error)}`]);
        }
      }
      return found;
    }, sources);
    drawn = new Map(results);
  });

  afterAll(() => browser?.close());

  test.each(documentDiagrams().map(({ name }) => name))("%s", (name) => {
    const svg = drawn.get(name) ?? "";
    expect(svg.slice(0, 300)).toMatch(/^<svg/);
    expect(svg).not.toContain("Syntax error in text");
  });
});

interface Mermaid {
  initialize(options: { readonly startOnLoad: boolean }): void;
  render(id: string, source: string): Promise<{ readonly svg: string }>;
}
