// SPDX-License-Identifier: Apache-2.0
// Every command and every snippet of the documents is executed by some test, or it is said why not.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { allItems, elsewhere, executionOf, noCode, notExecuted } from "./pages/ledger.ts";
import { pageItems, pageNames } from "./support/pages.ts";

const items = allItems().map((item) => ({ ...item, execution: executionOf(item) }));
const placeOf = ({ page, line, text }: { page: string; line: number; text: string }) => `${page}:${line}: ${text}`;

describe("the documents", () => {
  test("have no command and no snippet that nobody executes", () => {
    expect(items.filter(({ execution }) => execution === undefined).map(placeOf)).toEqual([]);
  });

  test("leave to nobody only what the list of exceptions has", () => {
    const left = items.filter(({ execution }) => execution?.by === undefined);
    expect(left).toHaveLength(notExecuted.length);
  });

  test.each(elsewhere)("$begins is executed by $test", ({ page, begins, test: file, words }) => {
    expect(items.some((item) => page.test(item.page) && item.text.startsWith(begins))).toBe(true);
    expect(readFileSync(file, "utf8")).toContain(words);
  });

  test("have every picture and print that the ledger leaves out", () => {
    const all = pageNames().flatMap((page) => pageItems(page).map(({ text }) => `${page}: ${text}`));
    expect(noCode.filter((each) => !all.some((text) => text.startsWith(each)))).toEqual([]);
  });

  test("are counted", () => {
    const count = (command: boolean, when?: string) =>
      items.filter(
        (item) =>
          item.command === command &&
          (when === undefined || (item.execution && "when" in item.execution && item.execution.when === when)),
      ).length;
    for (const [command, name] of [
      [true, "commands"],
      [false, "snippets"],
    ] as const)
      console.info(
        `${count(command)} ${name}: ${count(command, "npm test")} executed by npm test, ${count(command, "npm run test:all")} more by npm run test:all`,
      );
    expect(items.length).toBeGreaterThan(300);
  });
});
