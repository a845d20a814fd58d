// SPDX-License-Identifier: Apache-2.0
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A command to type, or a snippet, with the place where a reader finds it. */
export interface PageItem {
  readonly page: string;
  readonly line: number;
  /** The line in which its block begins. */
  readonly block: number;
  /** A command's is empty. */
  readonly language: string;
  /** What follows the language in a block's opening line. */
  readonly info: string;
  readonly text: string;
  readonly command: boolean;
  /** Of a command: whether it stands in a sentence or a table. */
  readonly inline: boolean;
}

/** Programs that documents may name: others are a slip of the pen. */
export const programs = [
  ...[
    "age",
    "aws",
    "cd",
    "cdktf",
    "cdktn",
    "chmod",
    "cp",
    "docker",
    "echo",
    "export",
    "git",
    "helm",
    "kubectl",
    "mkdir",
  ],
  ...["node", "npm", "npx", "rm", "source", "talosctl", "terraform", "tofu", "virsh"],
] as const;

/** All documents whose commands and snippets are executed by tests. */
export function pageNames(): readonly string[] {
  const below = (folder: string) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md") && !name.includes("node_modules"))
      .map((name) => join(folder, name));
  const examples = readdirSync("examples").map((name) => join("examples", name, "README.md"));
  return [
    ...["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md", "locks/README.md", "examples/README.md"],
    ...below("docs").sort(),
    ...examples.filter((name) => existsSync(name)).sort(),
  ];
}

const opening = /^```(\w*)[ \t]*(.*)$/;
const begins = new RegExp(`^(${programs.join("|")}|[A-Z_]+=\\S+) `);

/** Everything of a page that is to be executed, in its order. */
export function pageItems(page: string, text = readFileSync(page, "utf8")): readonly PageItem[] {
  const lines = text.split("\n");
  const items: PageItem[] = [];
  const add = (at: number, item: Partial<PageItem> & { readonly text: string }) =>
    items.push({ page, line: at + 1, block: at + 1, language: "", info: "", command: true, inline: false, ...item });
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const [fence, language = "", info = ""] = opening.exec(line) ?? [];
    const last = lastOf(lines, at, fence !== undefined);
    if (fence !== undefined) {
      const inside = lines.slice(at + 1, last);
      if (/^(sh|shell)$/.test(language))
        for (const [index, command] of commandsOf(inside))
          add(at + 1 + index, { text: command, info: info.trim(), block: at + 1 });
      else add(at, { text: `${inside.join("\n")}\n`, language, info: info.trim(), command: false });
      at = last;
    } else if (last > at) {
      const inside = lines.slice(at, last).map((each) => each.slice(4));
      if (begins.test(`${inside[0]} `))
        for (const [index, command] of commandsOf(inside)) add(at + index, { text: command, block: at + 1 });
      else add(at, { text: `${inside.join("\n")}\n`, language: "indented", command: false });
      at = last - 1;
    } else for (const command of inlineCommands(line)) add(at, { text: command, inline: true });
  }
  return items;
}

/** The line of a fence's end, or the one after an indented block; for other lines the line itself. */
function lastOf(lines: readonly string[], at: number, fenced: boolean): number {
  let end = at + 1;
  if (fenced) {
    while (end < lines.length && lines[end] !== "```") end++;
    return end;
  }
  if (!/^ {4}\S/.test(lines[at] ?? "") || lines[at - 1] !== "") return at;
  while (/^ {4}/.test(lines[end] ?? "")) end++;
  return end;
}

/** Commands with the line that each begins in: one goes on for as long as a quotation is open. */
function commandsOf(lines: readonly string[]): readonly (readonly [number, string])[] {
  const commands: [number, string][] = [];
  let open = false;
  for (const [index, line] of lines.entries()) {
    const last = commands.at(-1);
    if (open && last !== undefined) last[1] += `\n${line}`;
    else if (line.trim() !== "" && !line.startsWith("#")) commands.push([index, line.trim()]);
    if (/^[^']*'[^']*('[^']*'[^']*)*$/.test(line.replace(/ #.*$/, ""))) open = !open;
  }
  return commands;
}

/**
 * In sentences and tables: commands of ours that can be typed as they stand, and scripts in the first column of a table.
 * Other programs' commands are only named there, as `terraform import` is.
 */
function inlineCommands(line: string): readonly string[] {
  const [, script] = /^\| `(npm [^`]+)` \|/.exec(line) ?? [];
  const ours = [...line.matchAll(/`(npx talosmith [^`<…|]+)`/g)].map(([, span = ""]) => span);
  return script === undefined ? ours : [script];
}
