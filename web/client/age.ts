// SPDX-License-Identifier: Apache-2.0

const units = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
] as const;

/** How long ago, as kubectl says it: 5s, 3m, 2h, 4d. */
export function age(since: string, now: number): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(since)) / 1000));
  for (const [unit, length] of units) if (seconds >= length) return `${Math.floor(seconds / length)}${unit}`;
  return `${seconds}s`;
}
