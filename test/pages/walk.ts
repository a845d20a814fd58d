// SPDX-License-Identifier: Apache-2.0
// A page, typed into a shell as a reader would, line by line.
import type { Command } from "commander";
import { expect } from "vitest";
import { createProgram } from "../../cli/program.ts";
import { registrations } from "../../cli/registrations.ts";
import { testContext } from "../support/command-context.ts";
import { commandOf, shellWords } from "../support/command-line.ts";
import type { PageShell, Typed } from "../support/page-shell.ts";
import { type PageItem, pageItems } from "../support/pages.ts";

/** A project as the page takes it for given, with the shell that a reader has there. */
export interface World {
  readonly shell: PageShell;
  /** What a reader puts in: the text of the page, and what it becomes here. */
  readonly put?: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Why lines can't be typed on this computer. */
export interface Missing {
  readonly missing: string;
}

export interface Walk {
  readonly page: string;
  /** What stands in for things that are not on every computer, as the test's name tells it. */
  readonly name: string;
  open(): Promise<World | Missing>;
  /** Beginnings of the lines that are typed in this world. @default all that are not `except` */
  readonly only?: readonly string[];
  readonly except?: readonly string[];
  /** What `npm test` types of it: all, or lines that begin so. @default nothing; it is for `npm run test:all` */
  readonly quick?: true | readonly string[];
  /** Lines before a line that begins so: the trouble that a reader comes from. */
  readonly before?: Readonly<Record<string, readonly string[]>>;
  /** Lines after a line that begins so, which look whether it did what it says. */
  readonly after?: Readonly<Record<string, readonly string[]>>;
  /** What the screen must show after a line that begins so. */
  readonly shows?: Readonly<Record<string, string>>;
  /** A line that the page has again is not typed again: in this world a second deploy waits for machines that do not run. */
  readonly once?: true;
  /** Every block goes on in the folder where the one before it ended. @default a block begins in the project's folder */
  readonly stays?: boolean;
}

/** Commands that go on until Ctrl-C, and what they say when they are at work. */
const untilStopped: readonly (readonly [beginning: RegExp, begun: RegExp])[] = [
  [/^npx talosmith ui\b/, /http:\/\//],
  [/^npx talosmith operate\b/, /metrics at/],
  [/^npx talosmith backup run\b/, /next backup at/],
];

const program: Command = createProgram(testContext(), registrations);
const begins = (line: string, beginnings: readonly string[]) =>
  beginnings.some((beginning) => line.startsWith(beginning));

/** The commands of a page that a walk types; with `quick`, those of `npm test`. */
export function linesOf(walk: Walk, { quick = false } = {}): readonly PageItem[] {
  const { page, only, except = [] } = walk;
  const all = pageItems(page).filter(
    ({ command, text }) => command && (only === undefined || begins(text, only)) && !begins(text, except),
  );
  if (!quick || walk.quick === true) return all;
  const { quick: beginnings = [] } = walk;
  return all.filter(({ text }) => begins(text, beginnings));
}

/** Types the lines of a walk; the first that does not do what it says fails the test. Tells how many were typed. */
export async function walkPage(walk: Walk, world: World, lines: readonly PageItem[]): Promise<number> {
  const { shell, put = {} } = world;
  let typed = 0;
  let block: number | undefined;
  for (const [index, item] of lines.entries()) {
    if (walk.once && lines.findIndex(({ text }) => text === item.text) < index) continue;
    if (!walk.stays && item.block !== block) await shell.ok(`cd ${shell.root}`);
    block = item.block;
    for (const line of aroundOf(walk.before, item)) await shell.ok(putIn(line, put));
    const absent = missingProgram(item.text, shell);
    if (absent !== undefined) {
      console.warn(`SKIPPED: ${item.page}:${item.line}: ${item.text}, because there is no ${absent}`);
      continue;
    }
    const result = await typeLine(shell, putIn(item.text, put));
    expect(fault(result), `${item.page}:${item.line}: ${result.line}\n${result.stderr}\n${result.stdout}`).toBe(0);
    for (const [beginning, words] of Object.entries(walk.shows ?? {}))
      if (item.text.startsWith(beginning)) expect(`${result.stdout}${result.stderr}`, item.text).toContain(words);
    for (const line of aroundOf(walk.after, item)) await shell.ok(putIn(line, put));
    typed += 1;
  }
  return typed;
}

const aroundOf = (lines: Walk["before"] = {}, { text }: PageItem): readonly string[] =>
  Object.entries(lines).flatMap(([beginning, around]) => (text.startsWith(beginning) ? around : []));

async function typeLine(shell: PageShell, line: string): Promise<Typed> {
  const [, begun] = untilStopped.find(([beginning]) => beginning.test(line)) ?? [];
  return shell.type(onFreePort(sayYes(line)), begun);
}

/** The exit code; what is no fault counts as 0. */
function fault({ line, code }: Typed): number {
  // A plan says with 2 that there is something to do; Ctrl-C is told with 130.
  if (code === 2 && /^(npx talosmith|npm run) plan\b/.test(line)) return 0;
  if (code === 130 && untilStopped.some(([beginning]) => beginning.test(line))) return 0;
  return code;
}

/** A reader who is asked says yes. Without a terminal nobody is asked. */
function sayYes(line: string): string {
  const [, ours] = /^npx talosmith (.+)$/.exec(line) ?? [];
  if (ours === undefined || /--(yes|auto-approve|dry-run(?!=false)|write-only)/.test(line)) return line;
  const asks = commandOf(program, ours).options.some(({ long }) => long === "--yes");
  return asks ? withFlags(line, "--yes") : line;
}

/** The usual port may be taken: by a walk beside this one, or by the operator of whoever runs the tests. */
function onFreePort(line: string): string {
  return /^npx talosmith operate\b/.test(line) ? withFlags(line, "--listen 127.0.0.1:0") : line;
}

const withFlags = (line: string, flags: string) => line.replace(/(\s+[#>|].*)?$/, ` ${flags}$1`);

/** Whole words only: 10.0.0.1 is no part of 10.0.0.11. */
function putIn(line: string, put: Readonly<Record<string, string>>): string {
  return Object.entries(put).reduce((text, [from, to]) => {
    const escaped = from.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return text.replaceAll(new RegExp(`(?<![\\w.])${escaped}(?![\\w]|\\.\\d)`, "g"), () => to);
  }, line);
}

/** A program of others that is not here: its lines are skipped by name. */
function missingProgram(line: string, shell: PageShell): string | undefined {
  const [first = ""] = shellWords(line);
  if (!/^(age|aws|cdktf|cdktn|docker|helm|kubectl|talosctl|terraform|tofu|virsh)$/.test(first)) return undefined;
  return shell.has(first) ? undefined : first;
}
