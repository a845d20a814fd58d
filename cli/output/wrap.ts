// SPDX-License-Identifier: Apache-2.0
import { stripVTControlCharacters } from "node:util";

/** A terminal narrower than this wraps by itself. */
const narrowest = 16;

/** Programs with which a command to copy begins. */
const programs = /^(?:talosmith|kubectl|talosctl|terraform|tofu|helm|npx|npm|node|sudo|ssh|docker|virsh)$/;

/**
 * Text for people with lines that a terminal of this width would break within a word: broken between words instead, the
 * rest of a line further to the right than its beginning. A command to copy stays in one piece: on a line of its own where it
 * does not fit beside what stands before it. Without columns, the text as it is.
 */
export function wrapped(text: string, columns: number | undefined): string {
  if (columns === undefined || columns < narrowest) return text;
  return text
    .split("\n")
    .map((line) => (widthOf(line) < columns || isLaidOut(line) ? line : wrappedLine(line, columns)))
    .join("\n");
}

/** As many columns as a terminal takes for it: colors take none. */
function widthOf(text: string): number {
  return stripVTControlCharacters(text).length;
}

/** Columns of a table and frames of other programs lose their form by a break. */
function isLaidOut(line: string): boolean {
  return /^[│╷╵]|\S {2,}\S/.test(stripVTControlCharacters(line));
}

function wrappedLine(line: string, columns: number): string {
  const [indent = ""] = /^ */.exec(line) ?? [];
  const hanging = `${indent}  `;
  const lines: string[] = [];
  let current = "";
  for (const piece of piecesOf(line.slice(indent.length))) {
    const start = lines.length === 0 ? indent : hanging;
    if (current === "") current = start + piece;
    // The last column stays free: a terminal moves to the next line when it is filled.
    else if (widthOf(current) + 1 + widthOf(piece) < columns) current += ` ${piece}`;
    else {
      lines.push(current);
      current = hanging + piece;
    }
  }
  return [...lines, current].join("\n");
}

/** Words, and whole commands: from a program's name to the end of the sentence that it stands in. */
function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  let command: string[] | undefined;
  for (const word of text.split(/ +/)) {
    const plain = stripVTControlCharacters(word);
    if (command === undefined && programs.test(plain) && isCommandAfter(pieces.at(-1))) command = [];
    if (command === undefined) pieces.push(word);
    else command.push(word);
    if (command !== undefined && /[.,;:]$/.test(plain)) {
      pieces.push(command.join(" "));
      command = undefined;
    }
  }
  return command === undefined ? pieces : [...pieces, command.join(" ")];
}

/** A program's name in a sentence, such as "talosmith manages it", is no command. */
function isCommandAfter(before: string | undefined): boolean {
  return before === undefined || /[:→(]$|^(?:run|type|with|by|→)$/i.test(stripVTControlCharacters(before));
}
