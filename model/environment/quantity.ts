// SPDX-License-Identifier: Apache-2.0

const units: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

/** Bytes of `4GiB`, `512 MiB`, …; undefined when the text is no such size. */
export function parseSize(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s?(KiB|MiB|GiB|TiB)$/.exec(text);
  if (match === null) return undefined;
  const bytes = Number(match[1]) * (units[match[2] ?? ""] ?? Number.NaN);
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : undefined;
}

/** An amount of memory or disk: text such as `100GiB`, or a number of bytes. */
export type Size = string | number;

/** `4GiB`: the largest unit that gives a whole number. */
export function formatSize(size: Size): string {
  const bytes = typeof size === "number" ? size : (parseSize(size) ?? Number.NaN);
  const unit = Object.entries(units)
    .reverse()
    .find(([, each]) => bytes % each === 0);
  return unit === undefined ? `${bytes} bytes` : `${bytes / unit[1]}${unit[0]}`;
}
