// SPDX-License-Identifier: Apache-2.0

/** From a line on (counted from 0), so many lines are replaced by these. */
export type LineEdit = readonly [from: number, removed: number, added: readonly string[]];

/** How one text becomes another, by lines; compact where most lines stay. */
export function lineEdits(before: string, after: string): readonly LineEdit[] {
  const [left, right] = [before.split("\n"), after.split("\n")];
  const common = longestCommon(left, right);
  const edits: LineEdit[] = [];
  let [from, to] = [0, 0];
  for (const [i, j] of [...common, [left.length, right.length] as const]) {
    if (i > from || j > to) edits.push([from, i - from, right.slice(to, j)]);
    [from, to] = [i + 1, j + 1];
  }
  return edits;
}

export function withLineEdits(before: string, edits: readonly LineEdit[]): string {
  const lines = before.split("\n");
  for (const [from, removed, added] of edits.toReversed()) lines.splice(from, removed, ...added);
  return lines.join("\n");
}

/** Pairs of places that have the same line, as many as there can be. */
function longestCommon(left: readonly string[], right: readonly string[]): readonly (readonly [number, number])[] {
  const width = right.length + 1;
  const lengths = new Uint32Array((left.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = left.length - 1; i >= 0; i -= 1)
    for (let j = right.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] = left[i] === right[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const pairs: (readonly [number, number])[] = [];
  for (let i = 0, j = 0; i < left.length && j < right.length; ) {
    if (left[i] === right[j]) {
      pairs.push([i, j]);
      i += 1;
      j += 1;
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return pairs;
}
