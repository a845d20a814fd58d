// SPDX-License-Identifier: Apache-2.0

/**
 * The order in which Go's YAML library writes the keys of a map: letters after other characters, and runs of digits
 * by their number, so that `eth2` comes before `eth10`.
 */
export function compareKeys(left: string, right: string): number {
  const [a, b] = [[...left], [...right]];
  let afterDigit = false;
  for (let at = 0; at < a.length && at < b.length; at += 1) {
    const [x = "", y = ""] = [a[at], b[at]];
    if (x === y) {
      afterDigit = isDigit(x);
      continue;
    }
    const [letterX, letterY] = [isLetter(x), isLetter(y)];
    if (letterX && letterY) return order(x, y);
    if (letterX || letterY) return letterX === afterDigit ? -1 : 1;
    return compareNumbers(a, b, at);
  }
  return a.length - b.length;
}

function compareNumbers(a: readonly string[], b: readonly string[], at: number): number {
  // A zero after other digits belongs to a number that has begun already.
  const begun = (a[at] === "0" || b[at] === "0") && hasNonZeroBefore(a, at) ? 1 : 0;
  const [x, y] = [readNumber(a, at, begun), readNumber(b, at, begun)];
  return x.value - y.value || x.end - y.end || order(a[at] ?? "", b[at] ?? "");
}

function hasNonZeroBefore(characters: readonly string[], at: number): boolean {
  for (let index = at - 1; index >= 0 && isDigit(characters[index] ?? ""); index -= 1) {
    if (characters[index] !== "0") return true;
  }
  return false;
}

function readNumber(characters: readonly string[], at: number, begun: number): { value: number; end: number } {
  let value = begun;
  let end = at;
  for (; end < characters.length && isDigit(characters[end] ?? ""); end += 1) {
    value = value * 10 + Number(characters[end]);
  }
  return { value, end };
}

function order(x: string, y: string): number {
  return (x.codePointAt(0) ?? 0) - (y.codePointAt(0) ?? 0);
}

function isDigit(character: string): boolean {
  return /^[0-9]$/.test(character);
}

function isLetter(character: string): boolean {
  return /^\p{L}$/u.test(character);
}
