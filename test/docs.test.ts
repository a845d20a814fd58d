// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { parseFault } from "../simulator/control/index.ts";

const read = (path: string) => readFileSync(path, "utf8");
const pages = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"])
  .toString()
  .split("\n")
  .filter((page) => page !== "" && existsSync(page));

describe("the documents", () => {
  test.each(pages)("%s links only to files that are there", (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map((match) => match[1] ?? "");
    expect(links.filter((link) => !existsSync(join(dirname(page), link)))).toEqual([]);
  });

  test("the index and the site's navigation lead to every page", () => {
    const all = pages
      .filter((page) => /^docs\/[\w-]+\.md$/.test(page))
      .map((page) => page.slice("docs/".length, -".md".length));
    const linked = [...read("docs/index.md").matchAll(/\]\(([\w-]+)\.md/g)].map((match) => match[1]);
    const shown = [...read("scripts/site/.vitepress/config.mts").matchAll(/guide\("[^"]+", "([\w/-]+)"\)/g)].map(
      (match) => match[1],
    );
    expect(all.length).toBeGreaterThan(20);
    expect(all.filter((page) => page !== "index" && !linked.includes(page))).toEqual([]);
    expect(all.filter((page) => !shown.includes(page))).toEqual([]);
  });

  test("the site has every page of the root that the README leads to", () => {
    const linked = [...read("README.md").matchAll(/\]\(([A-Z]+\.md)\)/g)].map((match) => match[1]);
    const laid = read("scripts/build-site.ts");
    expect(linked.length).toBeGreaterThan(3);
    expect(linked.filter((page) => !laid.includes(`"${page}"`))).toEqual([]);
  });

  test("the README's environment is the local one", () => {
    const [, example = ""] = /```yaml\n([\s\S]*?)```/.exec(read("README.md")) ?? [];
    expect(parse(read("environments/local.yaml"))).toMatchObject(parse(example));
  });

  test("the README names the two commands", () => {
    expect(read("README.md")).toContain("npm ci && npm start");
    expect(read("README.md")).toContain("npm ci && npm test");
  });

  test("CONTRIBUTING explains every npm script, and no other", () => {
    const named = [...read("CONTRIBUTING.md").matchAll(/^\| `npm (?:run )?([\w:-]+)/gm)].map((match) => match[1]);
    expect(named.sort()).toEqual(Object.keys(JSON.parse(read("package.json")).scripts).sort());
  });

  test.each(["ARCHITECTURE.md", "CONTRIBUTING.md"])("%s names only files and folders that exist", (page) => {
    const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"])
      .toString()
      .split("\n");
    const top = new Set(tracked.map((file) => file.split("/")[0] ?? ""));
    const named = [...read(page).matchAll(/`((?:[\w.-]+\/)+[\w.-]*|\.?[\w-]+\.(?:ts|js|json|md))`/g)]
      .map((match) => match[1] ?? "")
      .concat(
        [...read(page).matchAll(/vitest(?: run)?((?: [\w./-]+\.test\.ts)+)/g)].flatMap(
          (match) => match[1]?.trim().split(" ") ?? [],
        ),
      )
      .filter((path) => top.has(path.split("/")[0] ?? ""));
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });

  test("the page of commands names every command of the program", () => {
    const help = execFileSync(process.execPath, ["bin/talosmith.js", "--help"]).toString();
    const commands = [...help.matchAll(/^ {2}([a-z]+)(?:\||\s)/gm)].map((match) => match[1] ?? "");
    const table = read("docs/commands.md").split("## Exit codes")[0] ?? "";
    const rows = [...table.matchAll(/^\| (`.*?) \| /gm)].map((match) => match[1] ?? "");
    const named = new Set(rows.flatMap((row) => [...row.matchAll(/`([a-z]+)/g)].map((match) => match[1] ?? "")));
    for (const command of commands.filter((name) => name !== "help")) expect([...named]).toContain(command);
  });

  test("every fault in the page of commands is one", () => {
    const [, section = ""] = read("docs/commands.md").split("## Faults of simulated machines");
    const faults = [...section.matchAll(/`([a-z-]+|\{[^`]+\})`/g)].map((match) => match[1] ?? "");
    expect(faults.length).toBeGreaterThan(8);
    for (const fault of faults) expect(parseFault(fault).kind).toBeTypeOf("string");
  });
});
