// SPDX-License-Identifier: Apache-2.0

type Line = readonly [mark: " " | "-" | "+", text: string];

const context = 3;

/** A unified diff of two texts, without file header; empty when they are the same. */
export function unifiedDiff(before: string, after: string): string {
  if (before === after) return "";
  const lines = compare(split(before), split(after));
  const hunks: string[] = [];
  let index = lines.findIndex(([mark]) => mark !== " ");
  while (index !== -1) {
    const start = Math.max(0, index - context);
    let end = index;
    let quiet = 0;
    while (end < lines.length && quiet <= context * 2) {
      quiet = lines[end]?.[0] === " " ? quiet + 1 : 0;
      end += 1;
    }
    const stop = Math.min(lines.length, end - Math.max(0, quiet - context));
    hunks.push(hunk(lines, start, stop));
    const rest = lines.slice(stop).findIndex(([mark]) => mark !== " ");
    index = rest === -1 ? -1 : stop + rest;
  }
  return hunks.join("");
}

function split(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function hunk(lines: readonly Line[], start: number, stop: number): string {
  const count = (from: number, to: number, other: "-" | "+"): number =>
    lines.slice(from, to).filter(([mark]) => mark !== other).length;
  const oldStart = count(0, start, "+");
  const newStart = count(0, start, "-");
  const oldCount = count(start, stop, "+");
  const newCount = count(start, stop, "-");
  const head = `@@ -${oldCount === 0 ? oldStart : oldStart + 1},${oldCount} +${newCount === 0 ? newStart : newStart + 1},${newCount} @@\n`;
  return (
    head +
    lines
      .slice(start, stop)
      .map(([mark, text]) => `${mark}${text}\n`)
      .join("")
  );
}

/** Longest common subsequence after the common head and tail are set aside: what is compared differs in few lines. */
function compare(before: readonly string[], after: readonly string[]): Line[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  ) {
    tail += 1;
  }
  const a = before.slice(head, before.length - tail);
  const b = after.slice(head, after.length - tail);
  const common = before.slice(0, head).map((text): Line => [" ", text]);
  const ending = before.slice(before.length - tail).map((text): Line => [" ", text]);
  return [...common, ...middle(a, b), ...ending];
}

function middle(a: readonly string[], b: readonly string[]): Line[] {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push([" ", a[i] ?? ""]);
      i += 1;
      j += 1;
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(["-", a[i] ?? ""]);
      i += 1;
    } else {
      lines.push(["+", b[j] ?? ""]);
      j += 1;
    }
  }
  return lines;
}
