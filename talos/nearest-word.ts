// SPDX-License-Identifier: Apache-2.0

/** The word that a reader most likely meant, or undefined when none is near enough to be worth naming. */
export function nearestWord(word: string, candidates: readonly string[]): string | undefined {
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (best === undefined || distance < best.distance) best = { candidate, distance };
  }
  if (best === undefined) return undefined;
  // A word of which every letter is exchanged is another word, however short.
  const near = best.distance <= Math.max(2, Math.floor(word.length / 2)) && best.distance < word.length;
  return near ? best.candidate : undefined;
}

/** How many characters must be added, removed or exchanged to turn one word into the other. */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const change = left[row - 1] === right[column - 1] ? 0 : 1;
      current.push(
        Math.min((previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (previous[column - 1] ?? 0) + change),
      );
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}

/** For a name that there is none of: the one that was most likely meant, and all that there are. */
export function namesHint(name: string, known: readonly string[]): string {
  const nearest = nearestWord(name, known);
  const meant = nearest === undefined ? "" : `Did you mean ${nearest}? `;
  return `${meant}There are: ${known.join(", ") || "none"}.`;
}
