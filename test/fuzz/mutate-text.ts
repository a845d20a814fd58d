// SPDX-License-Identifier: Apache-2.0
import { hostileKeys, hostileTexts } from "./hostile-values.ts";
import type { Random } from "./random.ts";

/** Longer inputs take their time by right; the limits of size are tested where they are. */
const longest = 4 * 1024;

type Change = (lines: string[], random: Random, other: string) => void;

const insert = (lines: string[], random: Random, ...added: string[]) =>
  void lines.splice(random.below(lines.length + 1), 0, ...added);

/** What a broken editor, a bad merge, a template or an enemy makes of YAML. Lines, because YAML lives in lines. */
const changes: readonly Change[] = [
  function removeLines(lines, random) {
    lines.splice(random.below(lines.length), 1 + random.below(4));
  },
  function doubleLines(lines, random) {
    const at = random.below(lines.length);
    insert(lines, random, ...lines.slice(at, at + 1 + random.below(5)));
  },
  function repeatLine(lines, random) {
    insert(lines, random, ...Array<string>(random.below(40)).fill(random.pick(lines)));
  },
  function numberedKeys(lines, random) {
    const indent = /^ */.exec(random.pick(lines))?.[0] ?? "";
    insert(lines, random, ...Array.from({ length: random.below(40) }, (_, index) => `${indent}k${index}: ${index}`));
  },
  function spliceOther(lines, random, other) {
    const foreign = other.split("\n");
    const at = random.below(foreign.length);
    insert(lines, random, ...foreign.slice(at, at + 1 + random.below(8)));
  },
  function truncate(lines, random) {
    lines.length = 1 + random.below(lines.length);
    lines.push((lines.pop() ?? "").slice(0, random.below(30)));
  },
  function changeIndent(lines, random) {
    const at = random.below(lines.length);
    lines[at] = random.pick([" ", "  ", "\t", "      "]) + (lines[at] ?? "");
  },
  function replaceValue(lines, random) {
    const at = random.below(lines.length);
    lines[at] = (lines[at] ?? "").replace(/([:-] ).*$/, (_, start) => `${start}${scalar(random)}`);
  },
  function replaceKey(lines, random) {
    const at = random.below(lines.length);
    lines[at] = (lines[at] ?? "").replace(/[\w.-]+:/, () => `${JSON.stringify(random.pick(hostileKeys))}:`);
  },
  function insertKey(lines, random) {
    const indent = /^ */.exec(random.pick(lines))?.[0] ?? "";
    insert(lines, random, `${indent}${random.pick(hostileKeys)}: ${scalar(random)}`);
  },
  function nestFlow(lines, random) {
    const depth = random.pick([10, 99, 120, 600]);
    const [open, close] = random.pick([
      ["[", "]"],
      ["{a: ", "}"],
      ["[{? ", "}]"],
      ["- ", ""],
    ]);
    const at = random.below(lines.length);
    lines[at] = `${(lines[at] ?? "").replace(/[^:]*$/, "")} ${open.repeat(depth)}x${close.repeat(depth)}`;
  },
  function nestBlock(lines, random) {
    const depth = random.pick([10, 60, 110]);
    insert(lines, random, ...Array.from({ length: depth }, (_, index) => `${" ".repeat(index)}a:`));
  },
  function aliasBomb(lines, random) {
    const width = random.pick([2, 9]);
    const bomb = ["bomb0: &b0 [x, x]"];
    for (let level = 1; level < 12; level += 1)
      bomb.push(
        `bomb${level}: &b${level} [${Array(width)
          .fill(`*b${level - 1}`)
          .join()}]`,
      );
    insert(lines, random, ...bomb, `bomb: *b${random.below(12)}`);
  },
  function anchor(lines, random) {
    const at = random.below(lines.length);
    lines[at] = (lines[at] ?? "").replace(/: /, ": &a ");
    insert(lines, random, `${/^ */.exec(random.pick(lines))?.[0]}<<: *a`);
  },
  function bytesBetween(lines, random) {
    const at = random.below(lines.length);
    const line = lines[at] ?? "";
    const cut = random.below(line.length + 1);
    lines[at] = line.slice(0, cut) + random.pick(hostileTexts) + line.slice(cut);
  },
  function swapCharacters(lines, random) {
    const at = random.below(lines.length);
    const line = lines[at] ?? "";
    const cut = random.below(line.length + 1);
    lines[at] = line.slice(0, cut) + random.pick([..."{}[],:&*!|>'\"%@`#?-\\ \t"]) + line.slice(cut + 1);
  },
  function anotherDocument(lines, random) {
    insert(lines, random, random.pick(["---", "...", "%YAML 1.1", "--- !!map", "---\n---\n---"]));
  },
  function carriageReturns(lines, random) {
    const every = random.chance(0.5);
    for (const [at, line] of lines.entries()) if (every || random.chance(0.2)) lines[at] = `${line}\r`;
  },
  function byteOrderMark(lines) {
    lines[0] = `\ufeff${lines[0]}`;
  },
];

function scalar(random: Random): string {
  const text = random.pick(hostileTexts);
  switch (random.below(6)) {
    case 0:
      return JSON.stringify(text);
    case 1:
      return `!!${random.pick(["binary", "str", "int", "set", "omap", "null"])} ${text}`;
    case 2:
      return `|${random.below(10)}\n  ${text}`;
    default:
      return text;
  }
}

/** A text with one thing changed, or a few. */
export function mutateText(seed: string, random: Random, others: readonly string[]): string {
  const lines = seed.split("\n");
  for (let count = random.pick([1, 1, 2, 4]); count > 0; count -= 1) {
    random.pick(changes)(lines, random, random.pick(others));
    if (lines.length === 0) lines.push("");
  }
  return lines.join("\n").slice(0, longest);
}
